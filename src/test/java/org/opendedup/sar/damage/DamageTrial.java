package org.opendedup.sar.damage;

import static org.opendedup.sar.damage.SampleVolume.name;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.node.OpenFile;

/**
 * Uses a damaged volume as programs would: mounts it, reads everything, writes, deletes, unmounts, and mounts it again,
 * until it has read what it wrote from the disk. Every answer is either right or an IOException with a message. For one
 * thread.
 *
 * <p>Bytes that are written after damage was noticed must be readable. Damage that no call noticed yet is another
 * matter: a chunk that the SSD answered for is found damaged only when its copy there was demoted, and what was written
 * meanwhile refers to it. Then everything is written once more, and that must be readable.
 */
final class DamageTrial {
    private static final int READ_BYTES = 64 << 10;
    private static final int COMPARED_BYTES = 4096;
    /** One damage harms two frames at most, and each of them may be noticed late. */
    private static final int MAX_WRITINGS = 3;

    private final SampleVolume sample;
    private final Path copy;
    private final boolean heals;
    /** What was wrong; one line for each. */
    private final List<String> problems = new ArrayList<>();

    private final List<Refusal> refusals = new ArrayList<>();
    /** The errors that were known when everything was written last. */
    private final Set<String> known = new HashSet<>();

    private final Call betweenMounts;
    private boolean mounted;
    private boolean written;
    private int writings;

    /** @param heals whether bytes that are written after damage was noticed must be readable */
    DamageTrial(SampleVolume sample, Path copy, boolean heals) {
        this(sample, copy, heals, () -> {});
    }

    /** @param betweenMounts what else happens after each unmount */
    DamageTrial(SampleVolume sample, Path copy, boolean heals, Call betweenMounts) {
        this.sample = sample;
        this.copy = copy;
        this.heals = heals;
        this.betweenMounts = betweenMounts;
    }

    /** A call that may be refused. */
    interface Call {
        void run() throws IOException;
    }

    /** A call that was refused, and its error. */
    private record Refusal(String what, String error) {
        @Override
        public String toString() {
            return what + ": " + error;
        }
    }

    /** Returns what was wrong. */
    List<String> run() {
        use(true);
        int readBack = 0;
        while (mounted && readBack < writings) {
            // What was written in a mount is read in the next one too: from the disk, not from memory.
            readBack = writings;
            attempt("what happens between mounts", betweenMounts);
            use(false);
        }
        return problems;
    }

    /** The calls that were refused with an error, a mount included. */
    List<String> refusals() {
        return refusals.stream().map(Refusal::toString).toList();
    }

    boolean wasMounted() {
        return mounted;
    }

    private void use(boolean first) {
        attempt("mount", () -> {
            Volume volume = sample.open(copy);
            mounted = true;
            try {
                readAll(volume);
                if (first) {
                    writeAll(volume);
                }
                readAgain(volume);
            } finally {
                attempt("unmount", volume::close);
            }
        });
    }

    /** Runs a call, and returns whether it succeeded. */
    private boolean attempt(String what, Call call) {
        try {
            call.run();
            return true;
        } catch (IOException e) {
            refusals.add(new Refusal(what, e.toString()));
            if (e.getMessage() == null || e.getMessage().isBlank()) {
                problems.add(what + " gave an error that says nothing: " + e);
            }
        } catch (RuntimeException | Error e) {
            StackTraceElement[] stack = e.getStackTrace();
            problems.add(
                    what + " gave " + e + " at " + Arrays.toString(Arrays.copyOf(stack, Math.min(8, stack.length))));
        }
        return false;
    }

    private void readAll(Volume volume) {
        sample.files.forEach((file, bytes) -> attempt("reading " + file, () -> read(volume, file, bytes)));
        sample.attributes.forEach((file, value) -> attempt("the attribute of " + file, () -> {
            long inode = volume.lookup(Inode.ROOT, name(file)).inode();
            try {
                if (!Arrays.equals(value, volume.extendedAttribute(inode, name("user.note")))) {
                    problems.add("the attribute of " + file + " has another value");
                }
            } finally {
                volume.forget(inode, 1);
            }
        }));
        sample.links.forEach((link, target) -> attempt("the target of " + link, () -> {
            long inode = volume.lookup(Inode.ROOT, name(link)).inode();
            try {
                if (!Arrays.equals(name(target), volume.readSymbolicLink(inode))) {
                    problems.add(link + " has another target");
                }
            } finally {
                volume.forget(inode, 1);
            }
        }));
        attempt("listing", () -> {
            List<String> names = new ArrayList<>();
            EntryVisitor visitor = (name, inode, type, cookie, attributes) -> names.add(new String(name));
            volume.list(Inode.ROOT, 0, false, visitor);
            if (!names.containsAll(sample.files.keySet())) {
                problems.add("names are missing: " + names);
            }
        });
    }

    private void read(Volume volume, String file, byte[] expected) throws IOException {
        long inode;
        try {
            inode = volume.lookup(Inode.ROOT, name(file)).inode();
        } catch (PosixException e) {
            problems.add(file + " is gone: " + e);
            return;
        }
        try {
            long size = volume.attributes(inode).size();
            if (size != expected.length) {
                problems.add(file + " has " + size + " bytes, not " + expected.length);
            }
            OpenFile open = volume.open(inode, false);
            try {
                compare(volume, open, file, expected);
            } finally {
                volume.close(open);
            }
        } finally {
            volume.forget(inode, 1);
        }
    }

    private void compare(Volume volume, OpenFile open, String file, byte[] expected) {
        for (int at = 0; at < expected.length; at += READ_BYTES) {
            int from = at;
            int length = Math.min(READ_BYTES, expected.length - at);
            if (!attempt("reading " + file, () -> compare(volume, open, file, expected, from, length))) {
                // A part of the bytes may be readable.
                for (int part = at; part < at + length; part += COMPARED_BYTES) {
                    int begin = part;
                    int bytes = Math.min(COMPARED_BYTES, at + length - part);
                    attempt("reading " + file, () -> compare(volume, open, file, expected, begin, bytes));
                }
            }
        }
    }

    private void compare(Volume volume, OpenFile open, String file, byte[] expected, int from, int length)
            throws IOException {
        ByteBuffer found = ByteBuffer.allocate(length);
        int read = volume.read(open, from, found);
        if (read != length) {
            problems.add(file + " ends at " + (from + read) + ", not at " + expected.length);
        } else if (!Arrays.equals(found.array(), 0, length, expected, from, from + length)) {
            problems.add(file + " has wrong bytes between " + from + " and " + (from + length));
        }
    }

    /** Writes everything once more, and deletes something. */
    private void writeAll(Volume volume) {
        refusals.forEach(refusal -> known.add(refusal.error()));
        writings++;
        boolean all = true;
        for (Map.Entry<String, byte[]> file : sample.files.entrySet()) {
            all &= attempt(
                    "writing " + file.getKey(),
                    () -> SampleVolume.write(volume, again(file.getKey()), file.getValue()));
        }
        all &= attempt("syncing", volume::sync);
        attempt("deleting", () -> {
            SampleVolume.write(volume, "short-lived", new byte[] {1, 2, 3});
            volume.unlink(Inode.ROOT, name("short-lived"));
        });
        written = all;
        if (!all && heals) {
            problems.add("bytes could not be written again");
        }
    }

    private String again(String file) {
        return "again" + writings + "-" + file;
    }

    /** What was accepted after the damage is readable where that is promised. */
    private void readAgain(Volume volume) {
        while (written) {
            int before = refusals.size();
            sample.files.forEach(
                    (file, bytes) -> attempt("reading " + again(file), () -> read(volume, again(file), bytes)));
            List<Refusal> refused = refusals.subList(before, refusals.size());
            if (!heals || refused.isEmpty()) {
                return;
            }
            boolean wasKnown = refused.stream().anyMatch(refusal -> known.contains(refusal.error()));
            if (wasKnown || writings == MAX_WRITINGS) {
                problems.add("what was written again cannot be read: " + refused);
                return;
            }
            writeAll(volume);
        }
    }
}
