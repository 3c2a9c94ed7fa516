package org.opendedup.sar.sdfs.fuse;

import java.nio.file.Path;

/**
 * How to mount. Start from {@link #of} and change what differs.
 *
 * @param mountPoint an existing directory
 * @param source what {@code mount} and {@code df} show as the device: the volume's name
 * @param readOnly refuse every change
 * @param allowOther let users in other than the one who mounts, root included where a user mounts; others than root need
 *     {@code user_allow_other} in {@code /etc/fuse.conf} for it. The kernel always checks permissions
 * @param noSuid ignore setuid bits; always so where another user than root mounts
 * @param noDev ignore device nodes; always so where another user than root mounts
 * @param noExec refuse to run programs
 * @param noAccessTime leave access times alone
 * @param synchronous each write is durable when it returns
 * @param threads requests served at once, 1 to {@value #MAX_THREADS}; each costs about 2 MiB of buffers
 * @param readAheadKib the kernel's read-ahead in KiB, set where this process may (root); 0 leaves the kernel's own
 */
public record MountOptions(
        Path mountPoint,
        String source,
        boolean readOnly,
        boolean allowOther,
        boolean noSuid,
        boolean noDev,
        boolean noExec,
        boolean noAccessTime,
        boolean synchronous,
        int threads,
        int readAheadKib) {

    /** Enough that a few slow disk reads and an fsync do not keep a lookup waiting; 16 MiB of buffers. */
    public static final int DEFAULT_THREADS = 8;

    public static final int MAX_THREADS = 64;

    /** Four requests of 1 MiB ahead of a sequential reader. */
    public static final int DEFAULT_READ_AHEAD_KIB = 4096;

    public MountOptions {
        if (threads < 1 || threads > MAX_THREADS) {
            throw new IllegalArgumentException("threads: 1 to " + MAX_THREADS + " allowed, not " + threads);
        }
        if (readAheadKib < 0) {
            throw new IllegalArgumentException("read-ahead: 0 KiB or more allowed, not " + readAheadKib);
        }
    }

    /** The defaults, as of every file system: writable, setuid programs and devices on. */
    public static MountOptions of(Path mountPoint, String source) {
        return new MountOptions(
                mountPoint,
                source,
                false,
                false,
                false,
                false,
                false,
                false,
                false,
                DEFAULT_THREADS,
                DEFAULT_READ_AHEAD_KIB);
    }

    /**
     * Applies options as {@code mount -o} takes them: a list with commas, the last of a kind wins.
     *
     * @throws IllegalArgumentException if one is not known; the message names it
     */
    public MountOptions with(String commaSeparated) {
        MountOptions result = this;
        for (String option : commaSeparated.split(",", -1)) {
            result = result.withOne(option.trim());
        }
        return result;
    }

    private MountOptions withOne(String option) {
        int equals = option.indexOf('=');
        return equals < 0
                ? withFlag(option)
                : withNumber(option.substring(0, equals), option.substring(equals + 1), option);
    }

    private MountOptions withFlag(String option) {
        return switch (option) {
            case "ro" -> withReadOnly(true);
            case "rw" -> withReadOnly(false);
            case "allow_other" -> withAllowOther(true);
            case "suid" -> withSafety(false, noDev, noExec);
            case "nosuid" -> withSafety(true, noDev, noExec);
            case "dev" -> withSafety(noSuid, false, noExec);
            case "nodev" -> withSafety(noSuid, true, noExec);
            case "exec" -> withSafety(noSuid, noDev, false);
            case "noexec" -> withSafety(noSuid, noDev, true);
            case "noatime" -> withNoAccessTime(true);
            // No access time changes by reading, so there is nothing to choose.
            case "atime", "relatime", "norelatime", "strictatime", "nostrictatime", "diratime", "nodiratime" ->
                withNoAccessTime(false);
            case "sync" -> withSynchronous(true);
            case "async" -> withSynchronous(false);
            // default_permissions is always on.
            case "", "defaults", "default_permissions", "lazytime", "nolazytime", "silent", "loud", "nomand" -> this;
            default -> throw new IllegalArgumentException("mount option '" + option + "' is not known");
        };
    }

    private MountOptions withNumber(String name, String value, String option) {
        try {
            return switch (name) {
                case "threads" -> withThreads(Integer.parseInt(value));
                case "read_ahead_kb" -> withReadAheadKib(Integer.parseInt(value));
                default -> throw new IllegalArgumentException("mount option '" + option + "' is not known");
            };
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("mount option '" + option + "': a whole number is needed", e);
        }
    }

    public MountOptions withMountPoint(Path value) {
        return new MountOptions(
                value,
                source,
                readOnly,
                allowOther,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                synchronous,
                threads,
                readAheadKib);
    }

    public MountOptions withReadOnly(boolean value) {
        return new MountOptions(
                mountPoint,
                source,
                value,
                allowOther,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                synchronous,
                threads,
                readAheadKib);
    }

    public MountOptions withAllowOther(boolean value) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                value,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                synchronous,
                threads,
                readAheadKib);
    }

    public MountOptions withSafety(boolean suidOff, boolean devicesOff, boolean execOff) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                allowOther,
                suidOff,
                devicesOff,
                execOff,
                noAccessTime,
                synchronous,
                threads,
                readAheadKib);
    }

    public MountOptions withNoAccessTime(boolean value) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                allowOther,
                noSuid,
                noDev,
                noExec,
                value,
                synchronous,
                threads,
                readAheadKib);
    }

    public MountOptions withSynchronous(boolean value) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                allowOther,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                value,
                threads,
                readAheadKib);
    }

    public MountOptions withThreads(int value) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                allowOther,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                synchronous,
                value,
                readAheadKib);
    }

    public MountOptions withReadAheadKib(int value) {
        return new MountOptions(
                mountPoint,
                source,
                readOnly,
                allowOther,
                noSuid,
                noDev,
                noExec,
                noAccessTime,
                synchronous,
                threads,
                value);
    }
}
