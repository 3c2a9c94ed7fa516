package org.opendedup.sar.crash;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.FullKeyValueStore;
import org.opendedup.sar.model.FileSystem;

/**
 * Makes the stores of a volume full from time to time, each separately. If a call is refused for this, this class makes
 * space, as an administrator would, and calls again; the caller does not notice.
 */
final class Scarcity {
    private static final int ONE_IN = 4;
    private static final int MAX_FREE_BYTES = 20_000;
    /**
     * Free bytes when the disk is not full. So few that the packs reserve little, and that little is soon used up;
     * enough for the volume to accept writes.
     */
    private static final int PLENTY_BYTES = 64 << 20;

    private final SplittableRandom random;
    private final CrashDirectory containers;
    private final FullKeyValueStore metadata;
    private int refusals;

    Scarcity(long seed, CrashDirectory containers, FullKeyValueStore metadata) {
        random = new SplittableRandom(seed);
        this.containers = containers;
        this.metadata = metadata;
        containers.noSpaceAfter(PLENTY_BYTES);
    }

    /** Number of calls refused for lack of space so far. */
    int refusals() {
        return refusals;
    }

    FileSystem guard(FileSystem sound) {
        return guard(FileSystem.class, sound, sound);
    }

    private <T> T guard(Class<T> type, T target, FileSystem whole) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Guard(this, target, whole)));
    }

    private record Guard(Scarcity scarcity, Object target, FileSystem whole) implements InvocationHandler {
        @Override
        public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
            Object result = scarcity.call(target, method, arguments, whole);
            return result instanceof FileSystem.Handle handle
                    ? scarcity.guard(FileSystem.Handle.class, handle, whole)
                    : result;
        }
    }

    private Object call(Object target, Method method, Object[] guarded, FileSystem whole) throws Throwable {
        Object[] arguments = unguarded(guarded);
        boolean closes = method.getName().equals("close") || method.getName().equals("remount");
        if (closes) {
            makeSpace();
        } else if (random.nextInt(ONE_IN) == 0) {
            runShort();
        }
        try {
            return invoke(target, method, arguments);
        } catch (NoSpaceException e) {
            refusals++;
            makeSpace();
            whole.sync();
            return invoke(target, method, arguments);
        }
    }

    private void runShort() {
        if (random.nextBoolean()) {
            containers.noSpaceAfter(random.nextInt(MAX_FREE_BYTES));
        } else {
            metadata.refuseNextCommits(1 + random.nextInt(3));
        }
    }

    private void makeSpace() {
        containers.noSpaceAfter(PLENTY_BYTES);
        metadata.refuseNextCommits(0);
    }

    /** A handle that is an argument is the volume's own. */
    private static Object[] unguarded(Object[] arguments) {
        if (arguments == null) {
            return new Object[0];
        }
        return Arrays.stream(arguments)
                .map(argument -> argument instanceof FileSystem.Handle
                        ? ((Guard) Proxy.getInvocationHandler(argument)).target
                        : argument)
                .toArray();
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
