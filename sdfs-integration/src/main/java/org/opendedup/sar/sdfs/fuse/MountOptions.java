package org.opendedup.sar.sdfs.fuse;

import static java.util.Map.entry;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.volume.names.AccessTimes;

/**
 * The options of a mount. Start from {@link #of} and change individual options.
 *
 * @param mountPoint an existing directory
 * @param source device name that {@code mount} and {@code df} show: the name of the volume
 * @param changed the words among the options that change a default
 * @param threads requests served at the same time, 1 to {@value #MAX_THREADS}; each costs about 2 MiB of buffers
 * @param readAheadKib read-ahead of the kernel, in KiB; set only if this process has the permission (root); 0 keeps the
 *     kernel's default
 */
public record MountOptions(Path mountPoint, String source, Set<String> changed, int threads, int readAheadKib) {
    /** Default number of threads: a few slow disk reads and an fsync do not delay a lookup. The buffers use 16 MiB. */
    public static final int DEFAULT_THREADS = 8;

    public static final int MAX_THREADS = 64;

    /** Default read-ahead, in KiB: four requests of 1 MiB for a sequential reader. */
    public static final int DEFAULT_READ_AHEAD_KIB = 4096;

    /**
     * Options that turn on what is off by default. They are applied first, so options that forbid override them.
     * mount(8) does not pass on suid and dev, because file systems allow both by default; it passes on these.
     */
    private static final Set<String> ALLOWING = Set.of("allow_suid", "allow_dev");

    /** Words that mean the same as others. */
    private static final Map<String, String> SAME = Map.of(
            "suid",
            "allow_suid",
            "dev",
            "allow_dev",
            "relatime",
            "atime",
            "norelatime",
            "atime",
            "nostrictatime",
            "atime");

    /** Words that change a default, each with the one that changes it back. */
    private static final Map<String, String> CHANGING = Map.ofEntries(
            entry("ro", "rw"),
            entry("allow_other", "noallow_other"),
            entry("allow_suid", "nosuid"),
            entry("allow_dev", "nodev"),
            entry("noexec", "exec"),
            entry("noatime", "atime"),
            entry("strictatime", "atime"),
            entry("nodiratime", "diratime"),
            entry("sync", "async"),
            entry("nofast_wakeup", "fast_wakeup"),
            entry("noflush", "flush"),
            entry("noacl", "acl"),
            entry("noxattr", "xattr"),
            entry("show_snapshots", "hide_snapshots"),
            entry("passthrough", "nopassthrough"));

    /** Words without an effect; default_permissions is always on. */
    private static final Set<String> IGNORED =
            Set.of("", "defaults", "default_permissions", "lazytime", "nolazytime", "silent", "loud", "nomand");

    public MountOptions {
        changed = Set.copyOf(changed);
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
        return new MountOptions(mountPoint, source, Set.of(), DEFAULT_THREADS, DEFAULT_READ_AHEAD_KIB);
    }

    /** Returns whether every change is refused. */
    public boolean readOnly() {
        return changed.contains("ro");
    }

    /**
     * Returns whether to let in users other than the one who mounts, including root if a user mounts. Users other than
     * root need {@code user_allow_other} in {@code /etc/fuse.conf}. The kernel always checks permissions.
     */
    public boolean allowOther() {
        return changed.contains("allow_other");
    }

    /** Returns whether to ignore setuid bits; always so if a user other than root mounts. */
    public boolean noSuid() {
        return !changed.contains("allow_suid");
    }

    /** Returns whether to ignore device nodes; always so if a user other than root mounts. */
    public boolean noDev() {
        return !changed.contains("allow_dev");
    }

    /** Returns whether to refuse to run programs. */
    public boolean noExec() {
        return changed.contains("noexec");
    }

    /** Returns when reading sets access times; never with {@link #readOnly}. */
    public AccessTimes accessTimes() {
        return noAccessTime()
                ? AccessTimes.NEVER
                : changed.contains("strictatime") ? AccessTimes.ALWAYS : AccessTimes.RELATIVE;
    }

    /** Returns whether reading sets no access times. */
    public boolean noAccessTime() {
        return changed.contains("noatime");
    }

    /** Returns whether listing a directory sets no access time. */
    public boolean noDirectoryAccessTime() {
        return changed.contains("nodiratime");
    }

    /** Returns when listing a directory sets its access time. */
    public AccessTimes directoryAccessTimes() {
        return noDirectoryAccessTime() ? AccessTimes.NEVER : accessTimes();
    }

    /** Returns whether each write is durable when it returns. */
    public boolean synchronous() {
        return changed.contains("sync");
    }

    /**
     * Returns whether the processors do not sleep while requests flow, if this process may keep them from it (root).
     */
    public boolean fastWakeUp() {
        return !changed.contains("nofast_wakeup");
    }

    /** Returns the kinds of requests that the kernel may send. */
    public KernelRequests requests() {
        return new KernelRequests(
                !changed.contains("noflush"), !changed.contains("noacl"), !changed.contains("noxattr"));
    }

    /**
     * Returns whether to let the kernel read and write the files of {@link FuseFileSystem#backing} itself, if it offers
     * that and this process is root. The kernel then keeps no written bytes of other files back to send them together.
     * No effect with {@link #synchronous}.
     */
    public boolean passthrough() {
        return changed.contains("passthrough");
    }

    /**
     * Returns whether the root directory lists the folder of the snapshots. An NFS server needs that: the kernel finds
     * the path of a folder whose handle a client has by listing the folders above it.
     */
    public boolean showsSnapshots() {
        return changed.contains("show_snapshots");
    }

    public MountOptions withMountPoint(Path value) {
        return new MountOptions(value, source, changed, threads, readAheadKib);
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
        MountOptions now = this;
        for (boolean allowing : new boolean[] {true, false}) {
            for (String option : options) {
                now = ALLOWING.contains(option) == allowing ? now.withOne(option) : now;
            }
        }
        return now;
    }

    private MountOptions withOne(String option) {
        int equals = option.indexOf('=');
        return equals < 0
                ? withWord(option)
                : withNumber(option.substring(0, equals), option.substring(equals + 1), option);
    }

    private MountOptions withWord(String option) {
        String word = SAME.getOrDefault(option, option);
        String back = CHANGING.getOrDefault(word, word);
        if (!CHANGING.containsValue(back)) {
            if (IGNORED.contains(option)) {
                return this;
            }
            throw unknown(option);
        }
        var now = new HashSet<>(changed);
        now.removeIf(before -> back.equals(CHANGING.get(before)));
        if (CHANGING.containsKey(word)) {
            now.add(word);
        }
        return new MountOptions(mountPoint, source, now, threads, readAheadKib);
    }

    private MountOptions withNumber(String name, String value, String option) {
        try {
            return switch (name) {
                case "threads" -> new MountOptions(mountPoint, source, changed, Integer.parseInt(value), readAheadKib);
                case "read_ahead_kb" -> new MountOptions(mountPoint, source, changed, threads, Integer.parseInt(value));
                case "fuse_binding" ->
                    throw new IllegalArgumentException("mount option '" + option
                            + "': there is one FUSE binding, which needs no option; remove this one");
                default -> throw unknown(option);
            };
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("mount option '" + option + "': a whole number is needed", e);
        }
    }

    private static IllegalArgumentException unknown(String option) {
        return new IllegalArgumentException("mount option '" + option + "' is not known");
    }
}
