package org.opendedup.sar.concurrent;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.db.KeyValueStore;

/** Stores that are slow from time to time, so that threads meet in the middle of calls even with few processors. */
final class Jitter {
    private static final int ONE_IN = 4;
    private static final long MAX_PAUSE_NS = 100_000;

    private Jitter() {}

    static KeyValueStore on(KeyValueStore store) {
        return proxy(KeyValueStore.class, store);
    }

    static Directory on(Directory directory) {
        return proxy(Directory.class, directory);
    }

    private static <T> T proxy(Class<T> type, T target) {
        Object proxy =
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    pause();
                    return invoke(target, method, arguments);
                });
        return type.cast(proxy);
    }

    static void pause() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (random.nextInt(ONE_IN) == 0) {
            LockSupport.parkNanos(random.nextLong(MAX_PAUSE_NS));
        }
    }

    static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            method.setAccessible(true);
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
