package org.opendedup.sar.io;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;

/** A folder of which one byte of one file cannot be read, as of a disk with a bad sector. */
public final class UnreadableByte {
    private UnreadableByte() {}

    private interface Result {
        Object of(Object result, Object[] arguments);
    }

    public static Directory in(Directory directory, String name, long bad) {
        return proxy(Directory.class, directory, (result, arguments) -> {
            boolean isFile = result instanceof Input && arguments[0].equals(name);
            return !isFile ? result : proxy(Input.class, result, (read, places) -> read, bad);
        });
    }

    private static <T> T proxy(Class<T> type, Object target, Result change, long... bad) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (bad.length > 0
                            && arguments != null
                            && arguments.length > 1
                            && arguments[0] instanceof Long from
                            && arguments[1] instanceof ByteBuffer to
                            && from <= bad[0]
                            && bad[0] < from + to.remaining()) {
                        throw new IOException("Input/output error");
                    }
                    method.setAccessible(true);
                    try {
                        return change.of(method.invoke(target, arguments), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
