package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Small files of a volume, and what a crash may leave of each: its state at the last sync, or any later one. For one
 * thread.
 */
final class IntentFiles {
    /** Marks that a name may be missing. */
    private static final byte[] ABSENT = new byte[0];

    private Volume volume;
    /** The possible contents of each name; the last one is the present one. */
    private final Map<String, List<byte[]>> states = new TreeMap<>();

    void use(Volume opened) {
        volume = opened;
    }

    byte[] content(String name) {
        List<byte[]> all = states.get(name);
        return all.get(all.size() - 1);
    }

    private void note(String name, byte[] now) {
        states.computeIfAbsent(name, key -> new ArrayList<>(List.of(ABSENT))).add(now);
    }

    private void durable(String name) {
        List<byte[]> all = states.get(name);
        all.subList(0, all.size() - 1).clear();
    }

    long inode(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    /** Uses an open file. */
    interface Use {
        void with(OpenFile file) throws IOException;
    }

    void with(String name, Use use) throws IOException {
        OpenFile file = volume.open(inode(name), true);
        try {
            use.with(file);
        } finally {
            volume.close(file);
        }
    }

    void make(String name) throws IOException {
        note(name, new byte[0]);
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        volume.forget(inode, 1);
    }

    void write(String name, int offset, byte[] bytes) throws IOException {
        byte[] before = content(name);
        byte[] now = Arrays.copyOf(before, Math.max(before.length, offset + bytes.length));
        System.arraycopy(bytes, 0, now, offset, bytes.length);
        note(name, now);
        with(name, file -> volume.write(file, offset, ByteBuffer.wrap(bytes)));
    }

    void append(String name, byte[] bytes) throws IOException {
        write(name, content(name).length, bytes);
    }

    void sync(String name) throws IOException {
        with(name, file -> volume.sync(file));
        durable(name);
    }

    /** Makes everything durable, as fsync of a folder does. */
    void syncAll() throws IOException {
        volume.secureAll();
        volume.commit();
        states.keySet().forEach(this::durable);
    }

    /** Stores everything in chunks, durably. */
    void store() throws IOException {
        volume.sync();
        states.keySet().forEach(this::durable);
    }

    void truncate(String name, int size) throws IOException {
        note(name, Arrays.copyOf(content(name), size));
        volume.change(inode(name), AttributeChange.ofSize(size));
    }

    void punch(String name, int offset, int length) throws IOException {
        byte[] now = content(name).clone();
        Arrays.fill(now, Math.min(now.length, offset), Math.min(now.length, offset + length), (byte) 0);
        note(name, now);
        with(name, file -> volume.zero(file, offset, length, true));
    }

    void copy(String from, String to) throws IOException {
        byte[] source = content(from);
        byte[] now = Arrays.copyOf(content(to), Math.max(content(to).length, source.length));
        System.arraycopy(source, 0, now, 0, source.length);
        note(to, now);
        with(from, source1 -> with(to, target -> volume.copy(source1, 0, target, 0, source.length)));
    }

    void rename(String from, String to) throws IOException {
        List<byte[]> moved = states.get(from);
        note(to, content(from));
        moved.add(ABSENT);
        volume.rename(Inode.ROOT, from.getBytes(UTF_8), Inode.ROOT, to.getBytes(UTF_8), RenameMode.REPLACE);
    }

    void remove(String name) throws IOException {
        states.get(name).add(ABSENT);
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
    }

    /** Everything that a crash must not have left. What is found is the state from now on. */
    List<String> problemsAfterCrash() {
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, List<byte[]>> file : states.entrySet()) {
            byte[] found = read(file.getKey(), problems);
            boolean isPossible = file.getValue().stream()
                    .anyMatch(state ->
                            found == ABSENT ? state == ABSENT : state != ABSENT && Arrays.equals(state, found));
            if (!isPossible) {
                problems.add(
                        file.getKey() + (found == ABSENT ? " is missing" : " has " + describe(found)) + ", possible: "
                                + file.getValue().stream()
                                        .map(state -> state == ABSENT ? "nothing" : describe(state))
                                        .toList());
            }
            file.setValue(new ArrayList<>(List.of(found)));
        }
        return problems;
    }

    private static String describe(byte[] bytes) {
        return bytes.length + " bytes with hash " + Arrays.hashCode(bytes);
    }

    /** Everything that differs from the present state. */
    List<String> problems() {
        states.values().forEach(all -> all.subList(0, all.size() - 1).clear());
        return problemsAfterCrash();
    }

    private byte[] read(String name, List<String> problems) {
        try {
            return read(name);
        } catch (PosixException e) {
            return ABSENT;
        } catch (IOException e) {
            problems.add(name + ": " + e);
            return ABSENT;
        }
    }

    byte[] read(String name) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(1 << 20);
        with(name, file -> {
            int read = 1;
            while (read > 0) {
                read = volume.read(file, found.position(), found);
            }
        });
        return Arrays.copyOf(found.array(), found.position());
    }
}
