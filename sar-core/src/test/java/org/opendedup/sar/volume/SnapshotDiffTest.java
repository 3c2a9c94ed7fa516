package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.Change.Kind;
import org.opendedup.sar.volume.diff.DiffReport;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.store.VolumeStores;

/** What a comparison of snapshots tells is what a comparison of two listings finds. */
@Timeout(300)
class SnapshotDiffTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int ROUNDS = 12;
    private static final int CHANGES = 40;
    private static final int NAMES = 6;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private VolumeInMemory stores;
    private Volume volume;
    private final List<OpenFile> open = new ArrayList<>();

    @BeforeEach
    void create() throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256), seed);
        volume = stores.open();
    }

    @AfterEach
    void close() throws IOException {
        open.forEach(volume::close);
        volume.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }

    // --- a plain comparison of two listings

    /** A file or folder: what programs see of it, and its names by the folder and the name there. */
    private static final class Listed {
        int type;
        String attributes = "";
        long modifiedNs;
        byte[] content = {};
        /** Paths by folder and name. */
        final Map<String, String> names = new TreeMap<>();
    }

    private Map<Long, Listed> list(long root) throws IOException {
        Map<Long, Listed> all = new TreeMap<>();
        add(all, "", root, "", root);
        return all;
    }

    private void add(Map<Long, Listed> all, String key, long id, String path, long root) throws IOException {
        Attributes found = volume.attributes(id);
        Listed listed = all.computeIfAbsent(SnapshotIds.inode(id), none -> new Listed());
        listed.type = found.mode() & Modes.TYPE;
        StringBuilder line = new StringBuilder();
        line.append(String.format("%o %d:%d %d ", found.mode(), found.uid(), found.gid(), found.device()));
        for (byte[] name : volume.extendedAttributes(id)) {
            line.append(text(name)).append('=').append(text(volume.extendedAttribute(id, name)));
        }
        listed.attributes = line.toString();
        listed.modifiedNs = found.modifiedNs();
        if (id != root) {
            listed.names.put(key, path);
        }
        if (Modes.isDirectory(listed.type)) {
            listed.modifiedNs = 0;
            Map<String, Long> children = new TreeMap<>();
            volume.list(id, 0, false, (name, inode, type, cookie, attributes) -> {
                if (!text(name).equals(".") && !text(name).equals("..")) {
                    children.put(text(name), inode);
                }
                return true;
            });
            for (Map.Entry<String, Long> child : children.entrySet()) {
                String name = child.getKey();
                add(all, SnapshotIds.inode(id) + "/" + name, child.getValue(), path + "/" + name, root);
            }
        } else if (listed.type == Modes.REGULAR) {
            listed.content = content(id, found.size());
        }
    }

    private byte[] content(long inode, long size) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer bytes = ByteBuffer.allocate((int) size);
            volume.read(file, 0, bytes);
            return bytes.array();
        } finally {
            volume.close(file);
        }
    }

    /** What is told of a file, without the pairs of old and new names, which may be any. */
    private static final class Told {
        final TreeSet<String> old = new TreeSet<>();
        final TreeSet<String> now = new TreeSet<>();
        final TreeSet<String> modified = new TreeSet<>();
        int renamed;
        int links;
        final TreeSet<String> flags = new TreeSet<>();

        @Override
        public String toString() {
            return "old " + old + " now " + now + " modified " + modified + " renamed " + renamed + " links " + links
                    + " " + flags;
        }
    }

    private static Map<String, String> compare(Map<Long, Listed> before, Map<Long, Listed> after) {
        Map<Long, Told> told = new TreeMap<>();
        TreeSet<Long> inodes = new TreeSet<>(before.keySet());
        inodes.addAll(after.keySet());
        for (long inode : inodes) {
            Told file = told.computeIfAbsent(inode, none -> new Told());
            Listed was = before.getOrDefault(inode, new Listed());
            Listed is = after.getOrDefault(inode, new Listed());
            was.names.forEach((key, path) -> {
                if (!is.names.containsKey(key)) {
                    file.old.add(path);
                }
            });
            is.names.forEach((key, path) -> {
                if (!was.names.containsKey(key)) {
                    file.now.add(path);
                }
            });
            boolean isInBoth = before.containsKey(inode) && after.containsKey(inode);
            if (isInBoth) {
                file.renamed = Math.min(file.old.size(), file.now.size());
                file.links = Math.max(file.old.size(), file.now.size()) - file.renamed;
                boolean content = !Arrays.equals(was.content, is.content);
                boolean attributes =
                        !was.attributes.equals(is.attributes) || !content && was.modifiedNs != is.modifiedNs;
                addFlags(file, was, is, content, attributes);
            }
        }
        withoutReplaced(before, after, told);
        Map<String, String> texts = new TreeMap<>();
        told.forEach((inode, file) -> texts.put("inode " + inode, file.toString()));
        texts.values().removeIf(new Told().toString()::equals);
        return texts;
    }

    private static void addFlags(Told file, Listed was, Listed is, boolean content, boolean attributes) {
        if (content || attributes) {
            is.names.forEach((key, path) -> {
                if (was.names.containsKey(key)) {
                    file.modified.add(path);
                }
            });
            if (is.names.isEmpty()) {
                file.modified.add("/");
            }
            if (file.renamed > 0 || !file.modified.isEmpty()) {
                file.flags.add((content ? "content " : "") + (attributes ? "attributes" : ""));
            }
        }
    }

    /** A new file at the name of one that is gone is told as one change. */
    private static void withoutReplaced(Map<Long, Listed> before, Map<Long, Listed> after, Map<Long, Told> told) {
        Map<String, Long> old = new HashMap<>();
        before.forEach((inode, file) -> file.names.keySet().forEach(key -> old.put(key, inode)));
        after.forEach((inode, file) -> file.names.forEach((key, path) -> {
            Long other = old.get(key);
            if (other != null
                    && !after.containsKey(other)
                    && !before.containsKey(inode)
                    && file.type == before.get(other).type
                    && !Modes.isDirectory(file.type)) {
                told.get(inode).now.remove(path);
                told.get(inode).modified.add(path);
                told.get(inode).flags.add("replaced");
                told.get(other).old.remove(before.get(other).names.get(key));
            }
        }));
    }

    // --- what is told

    private Map<String, String> diff(String from, String to) throws IOException {
        List<Change> changes = new ArrayList<>();
        DiffReport report = volume.maintenance().snapshotDiff().run(from, to, Progress.NONE, changes::add);
        Map<Long, Told> told = new TreeMap<>();
        for (Change change : changes) {
            add(change, told.computeIfAbsent(change.inode(), none -> new Told()));
        }
        assertEquals(
                List.of(report.added(), report.deleted(), report.modified(), report.renamed()),
                List.of(Kind.ADDED, Kind.DELETED, Kind.MODIFIED, Kind.RENAMED).stream()
                        .map(kind -> changes.stream()
                                .filter(change -> change.kind() == kind)
                                .count())
                        .toList());
        assertTrue(report.sorted());
        List<String> paths = changes.stream()
                .map(change -> text(change.path()).replace('/', '\0'))
                .toList();
        assertEquals(paths.stream().sorted().toList(), paths);
        Map<String, String> texts = new TreeMap<>();
        told.forEach((inode, file) -> texts.put("inode " + inode, file.toString()));
        return texts;
    }

    private static void add(Change change, Told file) {
        String flags = (change.content() ? "content " : "") + (change.attributes() ? "attributes" : "");
        switch (change.kind()) {
            case ADDED -> file.now.add(text(change.path()));
            case DELETED -> file.old.add(text(change.path()));
            case MODIFIED -> {
                file.modified.add(text(change.path()));
                file.flags.add(change.replaced() ? "replaced" : flags);
            }
            case RENAMED -> {
                file.renamed++;
                file.old.add(text(change.path()));
                file.now.add(text(change.newPath()));
                if (!flags.isEmpty()) {
                    file.flags.add(flags);
                }
            }
        }
        file.links += change.link() ? 1 : 0;
    }

    private List<String> lines(String from, String to) throws IOException {
        List<String> lines = new ArrayList<>();
        volume.maintenance().snapshotDiff().run(from, to, Progress.NONE, change -> lines.add(line(change)));
        return lines;
    }

    private static String line(Change change) {
        byte[] now = change.newPath();
        return change.kind().toString().charAt(0)
                + (change.content() ? "c" : "")
                + (change.attributes() ? "a" : "")
                + (change.link() ? "l" : "")
                + (change.replaced() ? "r" : "")
                + " "
                + text(change.path())
                + (now == null ? "" : " -> " + text(now));
    }

    // --- random trees

    private byte[] name() {
        return bytes("n" + random.nextInt(NAMES));
    }

    /** Returns a folder, or any entry; the walk goes down from the root. */
    private long pick(boolean isFolder) throws IOException {
        long at = Inode.ROOT;
        for (int depth = random.nextInt(5); depth > 0; depth--) {
            Attributes next = volume.lookup(at, name());
            volume.forget(next.inode(), 1);
            if (!Modes.isDirectory(next.mode() & Modes.TYPE)) {
                return isFolder ? at : next.inode();
            }
            at = next.inode();
        }
        return at;
    }

    private void change() throws IOException {
        long directory = pick(true);
        byte[] name = name();
        switch (random.nextInt(16)) {
            case 0, 1, 2 ->
                write(volume.makeNode(directory, name, 0100644, 0, OWNER).inode(), true);
            case 3, 4 ->
                volume.forget(volume.makeDirectory(directory, name, 0755, OWNER).inode(), 1);
            case 5, 6 -> volume.unlink(directory, name);
            case 7 -> volume.removeDirectory(directory, name);
            case 8 -> volume.rename(directory, name, pick(true), name(), RenameMode.EXCHANGE);
            case 9, 10 -> volume.rename(directory, name, pick(true), name(), RenameMode.REPLACE);
            case 11 -> volume.forget(volume.link(pick(false), directory, name).inode(), 1);
            case 12 -> attributes(pick(false));
            case 13 ->
                volume.forget(
                        volume.makeSymbolicLink(directory, name, bytes("t" + random.nextInt()), OWNER)
                                .inode(),
                        1);
            case 14 -> unnamed(directory, name);
            default -> write(pick(false), false);
        }
    }

    private void write(long inode, boolean isNew) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            byte[] bytes = new byte[1 + random.nextInt(random.nextInt(4) == 0 ? 600_000 : 3000)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) random.nextInt();
            }
            volume.write(file, random.nextInt(4) * 1000L, ByteBuffer.wrap(bytes));
            if (random.nextInt(4) == 0) {
                volume.change(inode, AttributeChange.ofSize(random.nextInt(4000)));
            }
        } finally {
            if (random.nextInt(10) == 0 && open.size() < 5) {
                open.add(file); // It may lose its names, and stay.
            } else {
                volume.close(file);
            }
            if (isNew) {
                volume.forget(inode, 1);
            }
        }
    }

    private void attributes(long inode) throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> volume.change(inode, AttributeChange.ofMode(random.nextInt(8) * 0111));
            case 1 ->
                volume.setExtendedAttribute(
                        inode,
                        bytes("user.a" + random.nextInt(2)),
                        bytes("v" + random.nextInt(2)),
                        SetMode.CREATE_OR_REPLACE);
            case 2 -> volume.removeExtendedAttribute(inode, bytes("user.a" + random.nextInt(2)));
            default ->
                volume.change(inode, new AttributeChange(null, null, null, null, null, (long) random.nextInt(3), null));
        }
    }

    private void unnamed(long directory, byte[] name) throws IOException {
        long inode = volume.makeUnnamed(directory, 0100600, OWNER).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes("text" + random.nextInt())));
        if (random.nextBoolean()) {
            try {
                volume.forget(volume.link(inode, directory, name).inode(), 1);
            } finally {
                volume.close(file);
                volume.forget(inode, 1);
            }
        } else {
            open.add(file);
            volume.forget(inode, 1);
        }
    }

    private void changeOften() throws IOException {
        for (int i = 0; i < CHANGES; i++) {
            try {
                change();
            } catch (PosixException e) {
                // Names are picked at random: it is there, or not.
                continue;
            }
        }
        while (open.size() > 5) {
            volume.close(open.remove(random.nextInt(open.size())));
        }
    }

    @Test
    void toldIsWhatTwoListingsShow() throws IOException {
        Map<String, Map<Long, Listed>> listings = new TreeMap<>();
        int compared = 0;
        for (int round = 0; round < TestSeed.rounds(ROUNDS); round++) {
            changeOften();
            String name = String.format("s%04d", round);
            volume.snapshots().create(name, 0, false);
            listings.put(name, list(TreeDigest.snapshotRoot(volume, name)));
            if (random.nextInt(4) == 0 && listings.size() > 2) {
                String gone = List.copyOf(listings.keySet()).get(random.nextInt(listings.size() - 1));
                volume.snapshots().delete(gone);
                listings.remove(gone);
            }
            for (String other : listings.keySet()) {
                String what = other + ", " + name + ", seed " + seed;
                Map<String, String> wanted = compare(listings.get(other), listings.get(name));
                assertEquals(wanted, diff(other, name), what);
                assertEquals(compare(listings.get(name), listings.get(other)), diff(name, other), what + ", back");
                compared += wanted.size();
            }
            if (random.nextInt(3) == 0) {
                rollBack(List.copyOf(listings.keySet()).get(random.nextInt(listings.size())));
                assertEquals(
                        compare(listings.get(name), list(Inode.ROOT)), diff(name, null), "rolled back, seed " + seed);
            }
            changeOften();
            Map<Long, Listed> present = list(Inode.ROOT);
            assertEquals(compare(listings.get(name), present), diff(name, null), name + " and now, seed " + seed);
        }
        assertTrue(compared > 100, "files that differed: " + compared);
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** Makes the volume what it was: inodes that were deleted are there again. */
    private void rollBack(String snapshot) throws IOException {
        open.forEach(volume::close);
        open.clear();
        volume.rollback().begin(snapshot, null);
        volume.close();
        volume = stores.open();
    }

    /** Records move to the versions while two snapshots are compared. */
    @Test
    void toldIsTheSameWhileProgramsChangeTheVolume() throws Exception {
        Map<String, Map<Long, Listed>> listings = new TreeMap<>();
        for (String name : List.of("s1", "s2", "s3")) {
            changeOften();
            changeOften();
            snapshot(name);
            listings.put(name, list(TreeDigest.snapshotRoot(volume, name)));
        }
        AtomicBoolean isOver = new AtomicBoolean();
        int[] compared = new int[1];
        CompletableFuture<Void> comparing = CompletableFuture.runAsync(() -> {
            while (!isOver.get() || compared[0] < 10) {
                for (String from : listings.keySet()) {
                    for (String to : listings.keySet()) {
                        assertSame(from, to, compare(listings.get(from), listings.get(to)));
                    }
                }
                compared[0]++;
            }
        });
        for (int i = 0; i < 30 && !comparing.isDone(); i++) {
            changeOften();
            volume.commit();
        }
        isOver.set(true);
        comparing.get();
    }

    private void assertSame(String from, String to, Map<String, String> wanted) {
        try {
            assertEquals(wanted, diff(from, to), from + ", " + to + ", seed " + seed);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Without the list of what died, changes of files that stay are missed, and the comparison shows that. */
    @Test
    void controlDeathsThatAreLostAreMissed() throws IOException {
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        KeyValueStore forgetful = (KeyValueStore) Proxy.newProxyInstance(
                KeyValueStore.class.getClassLoader(),
                new Class<?>[] {KeyValueStore.class},
                (self, method, arguments) -> method.getName().equals("batch")
                        ? withoutDeaths(metadata.batch())
                        : method.invoke(metadata, arguments));
        CrashDirectory data = new CrashDirectory(seed);
        VolumeConfig config = VolumeConfigs.in(folder.resolve("control"), 4L << 30, Chunking.SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        VolumeStores opened = new VolumeStores(data, forgetful, new HeapChunkIndex(), InstantSource.system());
        volume.close();
        volume = Volume.open(config, opened, Verification.CHECKSUMS);
        long file = make(Inode.ROOT, "file", "before");
        snapshot("a");
        overwrite(file, "after");
        snapshot("b");
        Map<Long, Listed> before = list(TreeDigest.snapshotRoot(volume, "a"));
        Map<Long, Listed> after = list(TreeDigest.snapshotRoot(volume, "b"));
        assertNotEquals(compare(before, after), diff("a", "b"));
    }

    private static Batch withoutDeaths(Batch batch) {
        return (Batch) Proxy.newProxyInstance(
                Batch.class.getClassLoader(), new Class<?>[] {Batch.class}, (self, method, arguments) -> {
                    boolean isLost = method.getName().equals("put") && arguments[0] == Family.DEATH;
                    return isLost ? null : method.invoke(batch, arguments);
                });
    }

    // --- one by one

    private long make(long directory, String name, String content) throws IOException {
        long inode = volume.makeNode(directory, bytes(name), 0100644, 0, OWNER).inode();
        overwrite(inode, content);
        volume.forget(inode, 1);
        return inode;
    }

    private void overwrite(long inode, String content) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes(content)));
        volume.close(file);
    }

    private long folder(long directory, String name) throws IOException {
        long inode = volume.makeDirectory(directory, bytes(name), 0755, OWNER).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private void snapshot(String name) throws IOException {
        volume.snapshots().create(name, 0, false);
    }

    @Test
    void eachKindOfChangeHasItsLine() throws IOException {
        long one = folder(Inode.ROOT, "one");
        long two = folder(one, "two");
        long kept = make(two, "kept", "kept");
        make(two, "gone", "gone");
        make(two, "saved", "by an editor");
        make(two, "same", "the same bytes");
        long linked = make(one, "linked", "linked");
        long log = make(one, "log", "log");
        snapshot("before");
        overwrite(kept, "changed");
        volume.unlink(two, bytes("gone"));
        make(two, ".saved~", "by an editor, again");
        volume.rename(two, bytes(".saved~"), two, bytes("saved"), RenameMode.REPLACE);
        overwrite(volume.lookup(two, bytes("same")).inode(), "the same bytes");
        volume.forget(volume.link(linked, two, bytes("link")).inode(), 1);
        volume.rename(one, bytes("log"), one, bytes("log.1"), RenameMode.REPLACE);
        make(one, "log", "new log");
        overwrite(log, "old log");
        volume.rename(one, bytes("two"), Inode.ROOT, bytes("three"), RenameMode.REPLACE);
        volume.change(one, AttributeChange.ofMode(0700));
        snapshot("after");
        List<String> wanted = List.of(
                "Ma /one",
                "A /one/log",
                "Rc /one/log -> /one/log.1",
                "D /one/two/gone",
                "R /one/two -> /three",
                "Al /three/link",
                "Mc /three/kept",
                "Ma /three/same",
                "Mr /three/saved");
        List<String> found = lines("before", "after");
        assertEquals(wanted.stream().sorted().toList(), found.stream().sorted().toList());
        assertEquals("Ma /one", found.get(0));
        assertEquals(found, lines("before", null));
        assertEquals(List.of(), lines("after", null));
        assertEquals(List.of(), lines("after", "after"));
        assertEquals(2, volume.snapshots().list().size());
    }

    @Test
    void aNameOfBytesIsExact() throws IOException {
        snapshot("before");
        byte[] odd = {'a', (byte) 0xff, '\n', 1};
        volume.forget(volume.makeNode(Inode.ROOT, odd, 0100644, 0, OWNER).inode(), 1);
        List<byte[]> paths = new ArrayList<>();
        volume.maintenance().snapshotDiff().run("before", null, Progress.NONE, change -> paths.add(change.path()));
        assertEquals("/" + text(odd), text(paths.get(0)));
    }

    @Test
    void aCloneThatGetsItsNameLaterIsNewWhole() throws IOException {
        long source = folder(Inode.ROOT, "source");
        for (int i = 0; i < 400; i++) {
            make(i % 2 == 0 ? source : folder(source, "d" + i), "f" + i, "content " + i);
        }
        snapshot("before");
        int[] made = new int[1];
        volume.maintenance()
                .treeClone((step, done, of) -> {
                    if (done > 200 && step.contains("cloned") && made[0]++ == 0) {
                        assertSnapshot("within");
                    }
                })
                .run(source, Inode.ROOT, bytes("clone"));
        assertEquals(true, made[0] > 0);
        snapshot("after");
        assertEquals(List.of(), lines("before", "within"));
        List<String> all = lines("before", "after");
        assertEquals(601, all.size());
        assertEquals(all, lines("within", "after"));
        assertEquals(all.stream().map(line -> "D" + line.substring(1)).toList(), lines("after", "within"));
    }

    private void assertSnapshot(String name) {
        try {
            snapshot(name);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aDeletedSnapshotIsToldAndNothingStays() throws IOException {
        for (int i = 0; i < 50; i++) {
            make(Inode.ROOT, "f" + i, "content");
        }
        snapshot("a");
        for (int i = 0; i < 50; i++) {
            volume.unlink(Inode.ROOT, bytes("f" + i));
        }
        snapshot("b");
        PosixException gone = assertThrows(
                PosixException.class,
                () -> volume.maintenance()
                        .snapshotDiff()
                        .run("a", "b", (step, done, of) -> deleteOnce("b", step), change -> {}));
        assertEquals(Reason.ESTALE, gone.reason());
        assertEquals(
                Reason.ENOENT,
                assertThrows(PosixException.class, () -> lines("a", "b")).reason());
        assertThrows(
                InterruptedIOException.class,
                () -> volume.maintenance()
                        .snapshotDiff()
                        .run(
                                "a",
                                null,
                                (step, done, of) -> {
                                    throw new InterruptedIOException();
                                },
                                change -> {}));
        assertEquals(1, volume.snapshots().list().size());
        assertFalse(Files.exists(folder.resolve("difference")));
        assertEquals(50, lines("a", null).size());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    private void deleteOnce(String name, String step) {
        if (step.equals("paths") && volume.snapshots().list().size() > 1) {
            try {
                volume.snapshots().delete(name);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The snapshot of the present that a crash leaves is a deleted one. */
    @Test
    void aCrashLeavesNoSnapshotOfThePresent() throws Exception {
        long file = make(Inode.ROOT, "file", "before");
        snapshot("a");
        overwrite(file, "within");
        VolumeInMemory[] left = new VolumeInMemory[1];
        // The end of the snapshot cannot be stored any more. What was told is right all the same.
        volume.maintenance().snapshotDiff().run("a", null, Progress.NONE, change -> {
            overwrite(file, "later");
            volume.sync();
            assertEquals(List.of(), VolumeChecker.check(volume));
            snapshot("seen");
            left[0] = stores.crash(seed);
        });
        VolumeInMemory.abandon(volume);
        stores = left[0];
        volume = stores.open();
        volume.snapshots().freed().get();
        volume.sync();
        assertEquals(
                List.of("a", "seen"),
                volume.snapshots().list().stream().map(one -> one.name()).toList(),
                "and the control: another one stays");
        assertEquals(0, volume.snapshots().beingFreed());
        assertEquals(List.of("Mc /file"), lines("a", null));
        assertEquals(List.of(), VolumeChecker.check(volume));
    }
}
