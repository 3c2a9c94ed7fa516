package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Small files of a volume, and what a power cut may leave of each. A name leads to the file that it had at its last
 * sync, or to a later one. A file is as in one of its versions since its last sync. Of a raw file that is so for each
 * byte, which may also be zero where one of these versions is shorter; no byte is of another file. For one thread.
 */
public final class FileHistory {
    private Volume volume;
    /** What each name may lead to; the last one is the present. */
    private final Map<String, List<Candidate>> names = new TreeMap<>();

    private final boolean isRaw;
    private boolean commitsFirst;

    private FileHistory(boolean isRaw) {
        this.isRaw = isRaw;
    }

    /** Files on the fast tier. */
    public static FileHistory ofRawFiles() {
        return new FileHistory(true);
    }

    /** Bytes that are all the same. */
    public static byte[] filled(int length, int value) {
        byte[] made = new byte[length];
        Arrays.fill(made, (byte) value);
        return made;
    }

    static FileHistory ofFilesInChunks() {
        return new FileHistory(false);
    }

    /** Uses an open file. */
    interface Use {
        void with(OpenFile file) throws IOException;
    }

    /** A file, with its contents so far; a crash leaves none before {@code synced}. */
    private static final class Versions {
        final List<byte[]> all = new ArrayList<>();
        int synced;

        byte[] last() {
            return all.get(all.size() - 1);
        }

        void sync() {
            synced = all.size() - 1;
        }
    }

    /**
     * @param file null: the name does not exist
     * @param floor first version of the file that may be found by this name
     */
    private record Candidate(@Nullable Versions file, int floor) {
        List<byte[]> possible() {
            return file.all.subList(Math.max(floor, file.synced), file.all.size());
        }
    }

    public void use(Volume opened) {
        volume = opened;
    }

    private List<Candidate> candidates(String name) {
        return names.computeIfAbsent(name, key -> new ArrayList<>(List.of(new Candidate(null, 0))));
    }

    private Versions file(String name) {
        List<Candidate> all = candidates(name);
        return all.get(all.size() - 1).file;
    }

    byte[] content(String name) {
        return file(name).last();
    }

    private static void keepLast(List<Candidate> candidates) {
        candidates.subList(0, candidates.size() - 1).clear();
    }

    public long inode(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private void with(String name, boolean writable, Use use) throws IOException {
        OpenFile file = volume.open(inode(name), writable);
        try {
            use.with(file);
        } finally {
            volume.close(file);
        }
    }

    public void make(String name) throws IOException {
        Versions made = new Versions();
        made.all.add(new byte[0]);
        candidates(name).add(new Candidate(made, 0));
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        volume.forget(inode, 1);
    }

    public void write(String name, int offset, byte[] bytes) throws IOException {
        byte[] now = Arrays.copyOf(content(name), Math.max(content(name).length, offset + bytes.length));
        System.arraycopy(bytes, 0, now, offset, bytes.length);
        file(name).all.add(now);
        with(name, true, file -> volume.write(file, offset, ByteBuffer.wrap(bytes)));
    }

    public void append(String name, byte[] bytes) throws IOException {
        write(name, content(name).length, bytes);
    }

    /** Syncs a file: in turn its bytes before the commit, and after it, as both may run beside each other. */
    void sync(String name) throws IOException {
        commitsFirst = !commitsFirst;
        with(name, false, file -> {
            if (commitsFirst && volume.securesBesideCommit(file)) {
                volume.commit();
                volume.secure(file);
                volume.check(file);
            } else {
                volume.sync(file);
            }
        });
        keepLast(candidates(name));
        file(name).sync();
    }

    private void allDurable() {
        for (List<Candidate> candidates : names.values()) {
            keepLast(candidates);
            if (candidates.get(0).file != null) {
                candidates.get(0).file.sync();
            }
        }
    }

    /** Makes everything durable, as fsync of a folder does. */
    void syncAll() throws IOException {
        volume.secureAll();
        volume.commit();
        allDurable();
    }

    /** Makes everything durable, as syncfs does. */
    void store() throws IOException {
        volume.sync();
        allDurable();
    }

    public void truncate(String name, int size) throws IOException {
        file(name).all.add(Arrays.copyOf(content(name), size));
        volume.change(inode(name), AttributeChange.ofSize(size));
    }

    void punch(String name, int offset, int length) throws IOException {
        byte[] now = content(name).clone();
        Arrays.fill(now, Math.min(now.length, offset), Math.min(now.length, offset + length), (byte) 0);
        file(name).all.add(now);
        with(name, true, file -> volume.zero(file, offset, length, true));
    }

    /** Copies the content of a file to the begin of another one. */
    void copy(String from, String to) throws IOException {
        byte[] source = content(from);
        byte[] now = Arrays.copyOf(content(to), Math.max(content(to).length, source.length));
        System.arraycopy(source, 0, now, 0, source.length);
        file(to).all.add(now);
        with(from, true, open -> with(to, true, target -> volume.copy(open, 0, target, 0, source.length)));
    }

    /** The name that the file gets shows no bytes from before. */
    void rename(String from, String to) throws IOException {
        Versions moved = file(from);
        candidates(to).add(new Candidate(moved, moved.all.size() - 1));
        candidates(from).add(new Candidate(null, 0));
        volume.rename(Inode.ROOT, from.getBytes(UTF_8), Inode.ROOT, to.getBytes(UTF_8), RenameMode.REPLACE);
    }

    /** Each name that gets the other file shows no bytes from before. */
    public void exchange(String one, String other) throws IOException {
        Versions first = file(one);
        Versions second = file(other);
        candidates(one).add(new Candidate(second, second.all.size() - 1));
        candidates(other).add(new Candidate(first, first.all.size() - 1));
        volume.rename(Inode.ROOT, one.getBytes(UTF_8), Inode.ROOT, other.getBytes(UTF_8), RenameMode.EXCHANGE);
    }

    void remove(String name) throws IOException {
        candidates(name).add(new Candidate(null, 0));
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
    }

    /** Stores a raw file in chunks, and keeps it raw. */
    public void copy(String name) throws IOException {
        VolumeContext context = volume.context();
        context.nodes().with(inode(name), node -> {
            context.fastTier().makeCurrent(node);
            return null;
        });
    }

    public void migrate(String name) throws IOException {
        volume.fastTier().migrate(inode(name));
    }

    /** Deletes the backing files that are not needed any more. */
    void giveBack() throws IOException {
        volume.commit();
        volume.commit();
        volume.context().raws().deleteDead();
    }

    /** Migrates all that are raw. */
    public void migrateAll() throws IOException {
        for (Map.Entry<String, List<Candidate>> name : names.entrySet()) {
            if (file(name.getKey()) != null) {
                migrate(name.getKey());
            }
        }
    }

    /** Everything that a power cut must not have left. What is found is the state from now on. */
    public List<String> problemsAfterCrash() {
        List<String> problems = new ArrayList<>();
        names.forEach((name, candidates) -> {
            byte[] found;
            try {
                found = read(name);
            } catch (IOException e) {
                problems.add(name + ": " + e);
                return;
            }
            if (candidates.stream().noneMatch(candidate -> isPossible(found, candidate))) {
                problems.add(name + (found == null ? " is missing" : " has " + found.length + " bytes") + ", possible: "
                        + candidates.stream().map(FileHistory::describe).toList());
            }
            Versions now = new Versions();
            now.all.add(found);
            candidates.clear();
            candidates.add(new Candidate(found == null ? null : now, 0));
        });
        return problems;
    }

    private static String describe(Candidate candidate) {
        return candidate.file == null
                ? "nothing"
                : candidate.possible().stream().map(bytes -> bytes.length).toList() + " bytes";
    }

    private boolean isPossible(byte @Nullable [] found, Candidate candidate) {
        if (found == null || candidate.file == null) {
            return found == null && candidate.file == null;
        }
        List<byte[]> possible = candidate.possible();
        if (!isRaw) {
            return possible.stream().anyMatch(version -> Arrays.equals(version, found));
        }
        int shortest = possible.stream().mapToInt(bytes -> bytes.length).min().orElseThrow();
        int longest = possible.stream().mapToInt(bytes -> bytes.length).max().orElseThrow();
        if (found.length < shortest || found.length > longest) {
            return false;
        }
        for (int i = 0; i < found.length; i++) {
            int at = i;
            if (!(found[i] == 0 && i >= shortest)
                    && possible.stream().noneMatch(bytes -> at < bytes.length && bytes[at] == found[at])) {
                return false;
            }
        }
        return true;
    }

    /** Everything that differs from the present state. */
    public List<String> problems() {
        allDurable();
        return problemsAfterCrash();
    }

    /** Returns a file's bytes; null if there is none of this name. */
    byte @Nullable [] read(String name) throws IOException {
        try {
            inode(name);
        } catch (PosixException e) {
            return null;
        }
        ByteBuffer found = ByteBuffer.allocate(1 << 20);
        with(name, false, file -> {
            int read = 1;
            while (read > 0) {
                read = volume.read(file, found.position(), found);
            }
        });
        return Arrays.copyOf(found.array(), found.position());
    }
}
