package org.opendedup.sar.volume;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;

/**
 * A directory that reports calls before they are made, so that a test can let a thread wait in the middle of its work.
 */
final class WatchedDirectory {
    /** Called in the thread that makes the call. */
    @FunctionalInterface
    interface Watcher {
        /**
         * @param method name of the method of {@link Directory} or, of an open file, of {@link Input}
         * @param file name of the file; empty if the call is not about one
         */
        void before(String method, String file) throws IOException;
    }

    private WatchedDirectory() {}

    static Directory of(Directory directory, Watcher watcher) {
        return (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (self, method, arguments) -> {
                    String file = arguments != null && arguments.length > 0 && arguments[0] instanceof String name
                            ? name
                            : "";
                    Object result = call(directory, watcher, method, file, arguments);
                    return result instanceof Input input ? opened(input, file, watcher) : result;
                });
    }

    private static Input opened(Input input, String file, Watcher watcher) {
        InvocationHandler handler = (self, method, arguments) -> call(input, watcher, method, file, arguments);
        return (Input) Proxy.newProxyInstance(Input.class.getClassLoader(), new Class<?>[] {Input.class}, handler);
    }

    private static Object call(Object target, Watcher watcher, Method method, String file, Object[] arguments)
            throws Throwable {
        if (method.getDeclaringClass() != Object.class) {
            watcher.before(method.getName(), file);
        }
        try {
            method.setAccessible(true);
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
