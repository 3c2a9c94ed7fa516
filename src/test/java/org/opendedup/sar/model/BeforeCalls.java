package org.opendedup.sar.model;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Runs an action before the calls of a file system, except before calls that cannot fail. */
public final class BeforeCalls {
    private BeforeCalls() {}

    /** The action before a call. */
    @FunctionalInterface
    public interface Action {
        void before(String method) throws IOException;
    }

    public static FileSystem of(FileSystem fileSystem, Action action) {
        return (FileSystem) Proxy.newProxyInstance(
                FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, (proxy, method, arguments) -> {
                    if (method.getExceptionTypes().length > 0) {
                        action.before(method.getName());
                    }
                    try {
                        return method.invoke(fileSystem, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
