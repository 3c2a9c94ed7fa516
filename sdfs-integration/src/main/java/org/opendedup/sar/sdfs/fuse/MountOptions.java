package org.opendedup.sar.sdfs.fuse;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.opendedup.sar.volume.names.AccessTimes;

/**
 * The options of a mount. Start from {@link #of} and change individual options.
 *
 * @param mountPoint an existing directory
 * @param source device name that {@code mount} and {@code df} show: the name of the volume
 * @param readOnly true: refuse every change
 * @param allowOther true: let in users other than the one who mounts, including root if a user mounts. Users other than
 *     root need {@code user_allow_other} in {@code /etc/fuse.conf}. The kernel always checks permissions
 * @param noSuid true: ignore setuid bits; always on if a user other than root mounts
 * @param noDev true: ignore device nodes; always on if a user other than root mounts
 * @param noExec true: refuse to run programs
 * @param accessTimes when reading sets access times; never with {@code readOnly}
 * @param noDirectoryAccessTime true: listing a directory sets no access time
 * @param synchronous true: each write is durable when it returns
 * @param threads requests served at the same time, 1 to {@value #MAX_THREADS}; each costs about 2 MiB of buffers
 * @param readAheadKib read-ahead of the kernel, in KiB; set only if this process has the permission (root); 0 keeps the
 *     kernel's default
 * @param fastWakeUp true: while requests flow, the processors do not sleep, if this process may keep them from it
 *     (root)
 * @param requests kinds of requests that the kernel may send
 * @param passthrough true: let the kernel read and write the files of {@link FuseFileSystem#backing} itself, if it
 *     offers that and this process is root. The kernel then keeps no written bytes of other files back to send them
 *     together. No effect with {@code synchronous}
 */
public record MountOptions(
        Path mountPoint,
        String source,
        boolean readOnly,
        boolean allowOther,
        boolean noSuid,
        boolean noDev,
        boolean noExec,
        AccessTimes accessTimes,
        boolean noDirectoryAccessTime,
        boolean synchronous,
        int threads,
        int readAheadKib,
        boolean fastWakeUp,
        KernelRequests requests,
        boolean passthrough) {

    /** Default number of threads: a few slow disk reads and an fsync do not delay a lookup. The buffers use 16 MiB. */
    public static final int DEFAULT_THREADS = 8;

    public static final int MAX_THREADS = 64;

    /** Options that turn on what is off by default. They are applied first, so options that forbid override them. */
    private static final Set<String> ALLOWING = Set.of("allow_suid", "allow_dev");

    /** Default read-ahead, in KiB: four requests of 1 MiB for a sequential reader. */
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
     * Returns the defaults: writable, for the user who mounts. Setuid programs and devices are off: a volume holds
     * copies of other machines, whose programs and devices keep their mode bits and numbers but must not work here.
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
                AccessTimes.RELATIVE,
                false,
                false,
                DEFAULT_THREADS,
                DEFAULT_READ_AHEAD_KIB,
                true,
                KernelRequests.ALL,
                false);
    }

    /** Returns whether reading sets no access times. */
    public boolean noAccessTime() {
        return accessTimes == AccessTimes.NEVER;
    }

    /** Returns these options with or without {@link #passthrough}. */
    public MountOptions withPassthrough(boolean value) {
        return changed(draft -> draft.passthrough = value);
    }

    /** Returns when listing a directory sets its access time. */
    public AccessTimes directoryAccessTimes() {
        return noDirectoryAccessTime ? AccessTimes.NEVER : accessTimes;
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
     * Applies options in the syntax of {@code mount -o}: a list separated by commas, in which the last option of a kind
     * applies. The exception: {@code nosuid} and {@code nodev} override {@code allow_suid} and {@code allow_dev} at any
     * position, because mount(8) passes the options that it knows before the others.
     *
     * @throws IllegalArgumentException if an option is not known; the message names it
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

    /** A mutable copy of the options. */
    private static final class Draft {
        private Path mountPoint;
        private final String source;
        private boolean readOnly;
        private boolean allowOther;
        private boolean noSuid;
        private boolean noDev;
        private boolean noExec;
        private AccessTimes accessTimes;
        private boolean noDirectoryAccessTime;
        private boolean synchronous;
        private int threads;
        private int readAheadKib;
        private boolean fastWakeUp;
        private KernelRequests requests;
        private boolean passthrough;

        Draft(MountOptions options) {
            mountPoint = options.mountPoint;
            source = options.source;
            readOnly = options.readOnly;
            allowOther = options.allowOther;
            noSuid = options.noSuid;
            noDev = options.noDev;
            noExec = options.noExec;
            accessTimes = options.accessTimes;
            noDirectoryAccessTime = options.noDirectoryAccessTime;
            synchronous = options.synchronous;
            threads = options.threads;
            readAheadKib = options.readAheadKib;
            fastWakeUp = options.fastWakeUp;
            requests = options.requests;
            passthrough = options.passthrough;
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
                    accessTimes,
                    noDirectoryAccessTime,
                    synchronous,
                    threads,
                    readAheadKib,
                    fastWakeUp,
                    requests,
                    passthrough);
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
                // mount(8) does not pass on suid and dev, because file systems allow both by default. It passes on
                // allow_suid and allow_dev.
                case "suid", "allow_suid" -> noSuid = false;
                case "nodev" -> noDev = true;
                case "dev", "allow_dev" -> noDev = false;
                case "noexec" -> noExec = true;
                case "exec" -> noExec = false;
                case "noatime" -> accessTimes = AccessTimes.NEVER;
                case "strictatime" -> accessTimes = AccessTimes.ALWAYS;
                case "atime", "relatime", "norelatime", "nostrictatime" -> accessTimes = AccessTimes.RELATIVE;
                case "nodiratime" -> noDirectoryAccessTime = true;
                case "diratime" -> noDirectoryAccessTime = false;
                case "sync" -> synchronous = true;
                case "async" -> synchronous = false;
                case "fast_wakeup" -> fastWakeUp = true;
                case "nofast_wakeup" -> fastWakeUp = false;
                case "flush" -> requests = requests.withFlushes(true);
                case "noflush" -> requests = requests.withFlushes(false);
                case "acl" -> requests = requests.withAccessLists(true);
                case "noacl" -> requests = requests.withAccessLists(false);
                case "xattr" -> requests = requests.withExtendedAttributes(true);
                case "noxattr" -> requests = requests.withExtendedAttributes(false);
                case "passthrough" -> passthrough = true;
                case "nopassthrough" -> passthrough = false;
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
                    case "fuse_binding" ->
                        throw new IllegalArgumentException("mount option '" + option
                                + "': there is one FUSE binding, which needs no option; remove this one");
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
