package org.opendedup.sar.crash;

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.raw.RawFolder;

/**
 * The power switch of a volume's stores: after a number of calls it switches all of them off at the same moment. Every
 * call, of any kind, is a step. Calls in progress at the power cut are completed first, and every later one fails. The
 * call at which the power is cut reaches the store, which decides which part of it survives the crash, but its caller
 * gets a failure. This does not apply to calls that make bytes or names of files durable: a crash may leave any part of
 * these anyway.
 */
public final class PowerCut {
    private static final long NEVER = Long.MAX_VALUE;

    private final AtomicLong stepsLeft = new AtomicLong(NEVER);
    private final ReadWriteLock power = new ReentrantReadWriteLock();
    private final Runnable whenOff;
    private volatile boolean off;

    public PowerCut() {
        this(() -> {});
    }

    /** @param whenOff runs at the power cut, before the call in progress */
    public PowerCut(Runnable whenOff) {
        this.whenOff = whenOff;
    }

    /** Permits this number of further steps, and no more. */
    public void after(long steps) {
        stepsLeft.set(steps);
    }

    public void now() {
        power.writeLock().lock();
        try {
            goOff();
        } finally {
            power.writeLock().unlock();
        }
    }

    /** Returns whether it was on. */
    private boolean goOff() {
        boolean wasOn = !off;
        if (wasOn) {
            whenOff.run();
        }
        off = true;
        return wasOn;
    }

    public boolean isOff() {
        return off;
    }

    /** Puts a directory, and every file written in it, behind this switch. */
    public Directory guard(Directory directory) {
        return guard(Directory.class, directory);
    }

    /** Puts a store, and every batch of it, behind this switch. */
    public KeyValueStore guard(KeyValueStore store) {
        return guard(KeyValueStore.class, store);
    }

    /** Puts a fast tier, and every file of it, behind this switch. */
    public RawFolder guard(RawFolder folder) {
        return guard(RawFolder.class, folder);
    }

    private <T> T guard(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> step(target, method, arguments)));
    }

    private Object step(Object target, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("close") || method.getDeclaringClass() == Object.class) {
            return invoke(target, method, arguments);
        }
        if (method.getExceptionTypes().length == 0) {
            // A call that cannot fail does not access the disk.
            return guardResult(invoke(target, method, arguments));
        }
        if (stepsLeft.get() != NEVER && stepsLeft.getAndDecrement() <= 0) {
            nowDuring(target, method, arguments);
        }
        power.readLock().lock();
        try {
            if (off) {
                throw new IOException("the power is off");
            }
            return guardResult(invoke(target, method, arguments));
        } finally {
            power.readLock().unlock();
        }
    }

    private void nowDuring(Object target, Method method, Object[] arguments) throws Throwable {
        power.writeLock().lock();
        try {
            if (goOff()) {
                underWay(target, method, arguments);
            }
        } finally {
            power.writeLock().unlock();
        }
    }

    private static void underWay(Object target, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("force") || method.getName().equals("sync")) {
            return;
        }
        try {
            Object result = invoke(target, method, arguments);
            if (result instanceof Closeable closeable) {
                closeable.close(); // a file, a cursor
            }
        } catch (IOException e) {
            // Its caller would not have got the result.
            return;
        }
    }

    private Object guardResult(Object result) {
        if (result instanceof Output output) {
            return guard(Output.class, output);
        } else if (result instanceof RandomFile file) {
            return guard(RandomFile.class, file);
        } else if (result instanceof KeyValueStore.Batch batch) {
            return guard(KeyValueStore.Batch.class, batch);
        }
        return result;
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            method.setAccessible(true);
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
