package org.opendedup.sar.concurrent;

import java.lang.reflect.Proxy;
import org.opendedup.sar.model.FileSystem;

/** Puts a file system behind one lock: so its calls always have an order. Threads meet before and after the lock. */
final class Serial {
    private Serial() {}

    static FileSystem of(FileSystem single) {
        return behind(new Object(), FileSystem.class, single);
    }

    private static <T> T behind(Object lock, Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Jitter.pause();
                    Object answer;
                    synchronized (lock) {
                        answer = Jitter.invoke(target, method, arguments);
                    }
                    Jitter.pause();
                    return answer instanceof FileSystem.Handle handle
                            ? behind(lock, FileSystem.Handle.class, handle)
                            : answer;
                }));
    }
}
