package org.opendedup.sar.sdfs.fuse;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

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

    /** What is off by default; applied first, so that what forbids it beats it. */
    private static final Set<String> ALLOWING = Set.of("allow_suid", "allow_dev");

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

    /**
     * The defaults: writable, for the user who mounts. Setuid programs and devices are off: a volume holds copies of other machines,
     * whose programs and devices keep their bits and numbers but are not to work here.
     */
    public static MountOptions of(Path mountPoint, String source) {
        return new MountOptions(
                mountPoint,
                source,
                false,
                false,
                true,
                true,
                false,
                false,
                false,
                DEFAULT_THREADS,
                DEFAULT_READ_AHEAD_KIB);
    }

    public MountOptions withMountPoint(Path value) {
        return changed(draft -> draft.mountPoint = value);
    }

    public MountOptions withAllowOther(boolean value) {
        return changed(draft -> draft.allowOther = value);
    }

    public MountOptions withThreads(int value) {
        return changed(draft -> draft.threads = value);
    }

    /**
     * Applies options as {@code mount -o} takes them: a list with commas, the last of a kind wins. Only {@code nosuid} and {@code nodev}
     * beat {@code allow_suid} and {@code allow_dev} from any place in the list: mount(8) hands on those it knows before the others.
     *
     * @throws IllegalArgumentException if one is not known; the message names it
     */
    public MountOptions with(String commaSeparated) {
        List<String> options =
                Arrays.stream(commaSeparated.split(",", -1)).map(String::trim).toList();
        return changed(draft -> {
            options.stream().filter(ALLOWING::contains).forEach(draft::apply);
            options.stream().filter(option -> !ALLOWING.contains(option)).forEach(draft::apply);
        });
    }

    private MountOptions changed(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.finished();
    }

    /** Options that are being changed. */
    private static final class Draft {
        private Path mountPoint;
        private final String source;
        private boolean readOnly;
        private boolean allowOther;
        private boolean noSuid;
        private boolean noDev;
        private boolean noExec;
        private boolean noAccessTime;
        private boolean synchronous;
        private int threads;
        private int readAheadKib;

        Draft(MountOptions options) {
            mountPoint = options.mountPoint;
            source = options.source;
            readOnly = options.readOnly;
            allowOther = options.allowOther;
            noSuid = options.noSuid;
            noDev = options.noDev;
            noExec = options.noExec;
            noAccessTime = options.noAccessTime;
            synchronous = options.synchronous;
            threads = options.threads;
            readAheadKib = options.readAheadKib;
        }

        MountOptions finished() {
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
                    readAheadKib);
        }

        void apply(String option) {
            int equals = option.indexOf('=');
            if (equals < 0) {
                applyFlag(option);
            } else {
                applyNumber(option.substring(0, equals), option.substring(equals + 1), option);
            }
        }

        private void applyFlag(String option) {
            switch (option) {
                case "ro" -> readOnly = true;
                case "rw" -> readOnly = false;
                case "allow_other" -> allowOther = true;
                case "noallow_other" -> allowOther = false;
                case "nosuid" -> noSuid = true;
                // mount(8) keeps suid and dev to itself, as what a file system does anyway: it hands on the others.
                case "suid", "allow_suid" -> noSuid = false;
                case "nodev" -> noDev = true;
                case "dev", "allow_dev" -> noDev = false;
                case "noexec" -> noExec = true;
                case "exec" -> noExec = false;
                case "noatime" -> noAccessTime = true;
                // No access time changes by reading, so there is nothing to choose.
                case "atime", "relatime", "norelatime", "strictatime", "nostrictatime", "diratime", "nodiratime" ->
                    noAccessTime = false;
                case "sync" -> synchronous = true;
                case "async" -> synchronous = false;
                // default_permissions is always on.
                case "", "defaults", "default_permissions", "lazytime", "nolazytime", "silent", "loud", "nomand" -> {}
                default -> throw unknown(option);
            }
        }

        private void applyNumber(String name, String value, String option) {
            try {
                switch (name) {
                    case "threads" -> threads = Integer.parseInt(value);
                    case "read_ahead_kb" -> readAheadKib = Integer.parseInt(value);
                    default -> throw unknown(option);
                }
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("mount option '" + option + "': a whole number is needed", e);
            }
        }

        private static IllegalArgumentException unknown(String option) {
            return new IllegalArgumentException("mount option '" + option + "' is not known");
        }
    }
}
