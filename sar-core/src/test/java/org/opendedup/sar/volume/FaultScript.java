package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * One use of everything that a volume does with its stores, and what must be in it afterwards. A call that fails is
 * made again: then it must succeed, because the fault is over. For one thread.
 */
final class FaultScript {
    private static final int BYTES = 150_000;
    private static final int ATTEMPTS = 8;

    /** Whether a fault has happened: without one no call may fail. */
    interface Fired {
        boolean now();
    }

    /** A step, which may be made again after it failed. */
    private interface Step {
        void run() throws IOException;
    }

    /** Opens the volume. */
    interface Opening {
        Volume open() throws IOException;
    }

    private final Path ssd;
    private final Opening opening;
    private final Fired fired;
    private final Map<String, byte[]> files = new TreeMap<>();
    /** Each failure of a step, as text. */
    final List<String> failures = new ArrayList<>();

    private Volume volume;
    private boolean unmounted;
    /** The step that is made, and its number from 1. */
    private volatile String at = "before the first step";

    private int steps;

    /** @param ssd folder of the SSD */
    FaultScript(Path ssd, Opening opening, Fired fired) {
        this.ssd = ssd;
        this.opening = opening;
        this.fired = fired;
    }

    /** Runs everything; all that was accepted is durable when it returns, and the volume is open. */
    void run() throws IOException {
        step("mount", () -> volume = opening.open());
        attachSsd();
        write("a", bytes(1));
        write("b", bytes(2));
        fsync("a");
        write("duplicate", bytes(1));
        write("gone", bytes(3));
        step("sync", () -> volume.sync());
        rename("b", "renamed");
        truncate("renamed", 100_001);
        punch("a", 20_000, 60_000);
        copy("duplicate", "snapshot");
        read("duplicate");
        read("duplicate");
        delete("gone");
        step("sync", () -> volume.sync());
        step("collection", () -> collect());
        read("renamed");
        write("a", bytes(4));
        rename("a", "renamed");
        fsync("renamed");
        step("scrub", () -> volume.maintenance().scrub().run((totals, rest, next) -> true));
        remount();
        readAll();
        write("late", bytes(5));
        delete("snapshot");
        step(
                "arrangement",
                () -> volume.maintenance()
                        .arrange(new ArrangementLimits(1, 1), DiskModel.configured(0.2, 100_000_000), Progress.NONE));
        step("collection", () -> collect());
        readAll();
        step("sync", () -> volume.sync());
    }

    /** Returns the step that is being made, or was made last: its number from 1, and its name. */
    String at() {
        return at;
    }

    private void collect() throws IOException {
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    private void attachSsd() throws IOException {
        step("attach", () -> {
            if (volume.hot().isConfigured() && volume.hot().status().state() == SsdState.DETACHED) {
                volume.hot().attach(ssd);
            }
        });
    }

    private static byte[] bytes(int seed) {
        byte[] made = new byte[BYTES];
        new Random(seed).nextBytes(made);
        return made;
    }

    /** Makes a step until it succeeds. It may fail only because of the fault. */
    private void step(String what, Step step) throws IOException {
        at = "step " + ++steps + " (" + what + ")";
        for (int attempt = 1; ; attempt++) {
            try {
                step.run();
                return;
            } catch (IOException e) {
                failures.add(at + ": " + e);
                if (!fired.now()) {
                    throw new AssertionError(what + " failed without a fault", e);
                }
                if (attempt == ATTEMPTS) {
                    throw new AssertionError(what + " fails after the fault is over", e);
                }
                resume();
            }
        }
    }

    /** As an administrator would, when the disk works again. */
    private void resume() {
        if (volume == null || unmounted) {
            return;
        }
        try {
            if (!volume.resume() && volume.condition().shortage() != null) {
                // The next commit does this by itself after some seconds.
                volume.sync();
            }
        } catch (IOException e) {
            failures.add(at + ", resume: " + e);
        }
    }

    private long inode(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private boolean exists(String name) throws IOException {
        try {
            var unused = inode(name);
            return true;
        } catch (PosixException e) {
            if (e.reason() == PosixException.Reason.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** Uses an open file. */
    private interface Use {
        void with(OpenFile file) throws IOException;
    }

    private void onFile(String what, String name, Use use) throws IOException {
        step(what + " " + name, () -> {
            OpenFile file = volume.open(inode(name), true);
            try {
                use.with(file);
            } finally {
                volume.close(file);
            }
        });
    }

    private void write(String name, byte[] data) throws IOException {
        step("make " + name, () -> {
            if (!exists(name)) {
                long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                        .inode();
                volume.forget(inode, 1);
            }
        });
        onFile("write", name, file -> volume.write(file, 0, ByteBuffer.wrap(data)));
        files.put(name, data.clone());
    }

    private void fsync(String name) throws IOException {
        onFile("fsync", name, file -> volume.sync(file));
    }

    private void truncate(String name, int length) throws IOException {
        step("truncate " + name, () -> volume.change(inode(name), AttributeChange.ofSize(length)));
        files.put(name, Arrays.copyOf(files.get(name), length));
    }

    private void punch(String name, int from, int length) throws IOException {
        onFile("punch", name, file -> volume.zero(file, from, length, true));
        Arrays.fill(files.get(name), from, from + length, (byte) 0);
    }

    private void copy(String source, String target) throws IOException {
        write(target, new byte[0]);
        onFile("copy", source, from -> {
            OpenFile to = volume.open(inode(target), true);
            try {
                for (long at = 0; at < files.get(source).length; ) {
                    long copied = volume.copy(from, at, to, at, files.get(source).length - at);
                    if (copied == 0) {
                        throw new AssertionError(source + " ends at byte " + at);
                    }
                    at += copied;
                }
            } finally {
                volume.close(to);
            }
        });
        files.put(target, files.get(source).clone());
    }

    private void rename(String from, String to) throws IOException {
        step("rename " + from, () -> {
            if (exists(from)) {
                volume.rename(Inode.ROOT, from.getBytes(UTF_8), Inode.ROOT, to.getBytes(UTF_8), RenameMode.REPLACE);
            }
        });
        files.put(to, files.remove(from));
    }

    private void delete(String name) throws IOException {
        step("delete " + name, () -> {
            if (exists(name)) {
                volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
            }
        });
        files.remove(name);
    }

    private void remount() throws IOException {
        // What is accepted must be durable before: an unmount that fails may lose what is not, and says so.
        step("sync", () -> volume.sync());
        unmount();
        step("mount", () -> volume = opening.open());
        unmounted = false;
        attachSsd();
    }

    /** Unmounts; a failure is noted, because everything was durable before. */
    void unmount() {
        unmounted = true;
        try {
            volume.close();
        } catch (IOException e) {
            failures.add("unmount: " + e);
            if (!fired.now()) {
                throw new AssertionError("the unmount failed without a fault", e);
            }
        }
    }

    /** Closes the volume if something ended the script before: its threads would go on. */
    void end() {
        if (volume != null && !unmounted) {
            unmounted = true;
            VolumeInMemory.abandon(volume);
        }
    }

    private void read(String name) throws IOException {
        onFile("read", name, file -> compare(name, contents(file)));
    }

    private byte[] contents(OpenFile file) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(2 * BYTES);
        int read = 1;
        while (read > 0) {
            read = volume.read(file, found.position(), found);
        }
        return Arrays.copyOf(found.array(), found.position());
    }

    private void compare(String name, byte[] found) {
        int at = Arrays.mismatch(files.get(name), found);
        if (at >= 0) {
            throw new AssertionError(name + " has " + found.length + " bytes instead of " + files.get(name).length
                    + ", and differs from byte " + at + " on");
        }
    }

    /** Reads all files and compares names. */
    void readAll() throws IOException {
        List<String> names = new ArrayList<>();
        step("list", () -> {
            names.clear();
            volume.list(Inode.ROOT, 0, false, (name, inode, type, cookie, attributes) -> {
                String text = new String(name, UTF_8);
                return text.startsWith(".") || names.add(text);
            });
        });
        Collections.sort(names);
        if (!names.equals(List.copyOf(files.keySet()))) {
            throw new AssertionError("the files are " + names + ", not " + files.keySet());
        }
        for (String name : files.keySet()) {
            read(name);
        }
    }

    /** Everything found wrong in the volume after it was opened again, without a fault. */
    List<String> problemsIn(Volume found) throws IOException {
        volume = found;
        unmounted = false;
        List<String> problems = new ArrayList<>();
        try {
            readAll();
        } catch (IOException | AssertionError e) {
            problems.add(e + (e.getCause() == null ? "" : ": " + e.getCause()));
        }
        problems.addAll(VolumeChecker.check(found));
        var scrub = found.maintenance().scrub().run((totals, rest, next) -> true);
        if (scrub.totals().damagedFrames()
                        + scrub.totals().damagedContainers()
                        + scrub.totals().contradictions()
                > 0) {
            problems.add("the scrub found " + scrub);
        }
        if (found.condition().damagedChunks() > 0) {
            problems.add(found.condition().damagedChunks() + " chunks are damaged");
        }
        return problems;
    }

    /** Writes everything once more, which finds duplicates, and reads it. */
    void useAgain() throws IOException {
        for (Map.Entry<String, byte[]> file : new TreeMap<>(files).entrySet()) {
            write("again-" + file.getKey(), file.getValue());
        }
        step("sync", () -> volume.sync());
        readAll();
    }
}
