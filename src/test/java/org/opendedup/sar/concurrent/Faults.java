package org.opendedup.sar.concurrent;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Faults for the controls, placed between a correct file system and its callers. Stale answers are given from time to
 * time, and a single caller sees them. A call in two steps waits between them for calls of other threads.
 */
final class Faults {
    private static final int ONE_IN = 2;
    /** Calls of others between the two steps of a call that should be atomic. */
    private static final int CALLS_BETWEEN = 4;
    /** Looks for these calls: the others may have ended, or wait too. */
    private static final int MAX_LOOKS = 200;

    private static final long LOOK_NS = 10_000;

    private Faults() {}

    /** One method call, done wrongly or passed on. */
    @FunctionalInterface
    private interface Passage {
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Passage passage) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> passage.call(method, arguments)));
    }

    private static boolean isTime() {
        return ThreadLocalRandom.current().nextInt(ONE_IN) == 0;
    }

    /** @param calls the number of calls that have returned */
    private static void letOthersCall(AtomicLong calls) {
        long enough = calls.get() + CALLS_BETWEEN;
        for (int look = 0; look < MAX_LOOKS && calls.get() < enough; look++) {
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private static Object counted(AtomicLong calls, Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return Jitter.invoke(target, method, arguments);
        } finally {
            calls.incrementAndGet();
        }
    }

    /** A lookup returns the attributes that an earlier one found. */
    static FileSystem staleLookups(FileSystem sound) {
        Map<String, Attributes> earlier = new ConcurrentHashMap<>();
        return proxy(FileSystem.class, (method, arguments) -> {
            Object answer = Jitter.invoke(sound, method, arguments);
            if (!method.getName().equals("lookup")) {
                return answer;
            }
            Attributes found = (Attributes) answer;
            Attributes before = earlier.put(arguments[0] + Arrays.toString((byte[]) arguments[1]), found);
            return before != null && before.inode() == found.inode() && isTime() ? before : found;
        });
    }

    /** The length in a file's attributes is that which an earlier call found. */
    static FileSystem staleLengths(FileSystem sound) {
        Map<Long, Attributes> earlier = new ConcurrentHashMap<>();
        return proxy(FileSystem.class, (method, arguments) -> {
            Object answer = Jitter.invoke(sound, method, arguments);
            if (!(answer instanceof Attributes found) || !Modes.isRegular(found.mode())) {
                return answer;
            }
            Attributes before = earlier.put(found.inode(), found);
            return before != null && isTime() ? withSize(found, before.size()) : found;
        });
    }

    private static Attributes withSize(Attributes from, long size) {
        return new Attributes(
                from.inode(),
                from.generation(),
                from.mode(),
                from.links(),
                from.uid(),
                from.gid(),
                from.device(),
                size,
                from.blocks(),
                from.accessedNs(),
                from.modifiedNs(),
                from.changedNs(),
                from.createdNs());
    }

    /** A rename over a file first removes that file. */
    static FileSystem renamesInTwoSteps(FileSystem sound) {
        AtomicLong calls = new AtomicLong();
        return proxy(FileSystem.class, (method, arguments) -> {
            if (method.getName().equals("rename")
                    && arguments[4] == RenameMode.REPLACE
                    && removeTarget(sound, arguments)) {
                letOthersCall(calls);
            }
            return counted(calls, sound, method, arguments);
        });
    }

    private static boolean removeTarget(FileSystem sound, Object[] arguments) throws IOException {
        long newDirectory = (Long) arguments[2];
        byte[] newName = (byte[]) arguments[3];
        long source = regular(sound, (Long) arguments[0], (byte[]) arguments[1]);
        long target = regular(sound, newDirectory, newName);
        if (source == 0 || target == 0 || source == target) {
            return false;
        }
        sound.unlink(newDirectory, newName);
        return true;
    }

    /** The regular file of this name, or 0. */
    private static long regular(FileSystem sound, long directory, byte[] name) throws IOException {
        try {
            Attributes found = sound.lookup(directory, name);
            sound.forget(found.inode(), 1);
            return Modes.isRegular(found.mode()) ? found.inode() : 0;
        } catch (PosixException e) {
            return 0;
        }
    }

    /** A write of several bytes writes the first one before the others. */
    static FileSystem writesInTwoSteps(FileSystem sound) {
        AtomicLong calls = new AtomicLong();
        return proxy(FileSystem.class, (method, arguments) -> {
            Object answer = counted(calls, sound, method, arguments);
            return answer instanceof FileSystem.Handle handle ? writesInTwoSteps(handle, calls) : answer;
        });
    }

    private static FileSystem.Handle writesInTwoSteps(FileSystem.Handle sound, AtomicLong calls) {
        return proxy(FileSystem.Handle.class, (method, arguments) -> {
            if (method.getName().equals("write")) {
                ByteBuffer source = (ByteBuffer) arguments[1];
                ByteBuffer first = source.duplicate().limit(source.position() + 1);
                sound.write((Long) arguments[0], first);
                letOthersCall(calls);
            }
            return counted(calls, sound, method, arguments);
        });
    }
}
