package org.opendedup.sar.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.cluster.ArchiveEntry.Kind;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.objects.FolderObjectStore;

/** Clusters of folders: what is put comes back, whichever volumes are away, are added or leave. */
class ClusterTest {
    private static final String NAME = "home";
    /** Files of which each volume gets a block; the probability that one gets none is below one in a million. */
    private static final int FILES = 24;

    private static final BlockShape SHAPE = new BlockShape(16 << 10, 2, 128 << 10);
    private static final int MOST_FILE_BYTES = 256 << 10;

    @TempDir
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private List<Path> folders;

    @BeforeEach
    void make() throws IOException {
        folders = new ArrayList<>();
        for (String name : List.of("a", "b", "c")) {
            folders.add(Files.createDirectory(folder.resolve(name)));
        }
        Cluster.create(NAME, folders);
    }

    private Cluster open() throws IOException {
        return Cluster.open(NAME, folders, SHAPE);
    }

    private Map<String, byte[]> files(int number) {
        Map<String, byte[]> files = new TreeMap<>();
        for (int i = 0; i < number; i++) {
            byte[] bytes = new byte[random.nextInt(MOST_FILE_BYTES)];
            random.nextBytes(bytes);
            files.put("file" + i, bytes);
        }
        return files;
    }

    private static ArchiveWriter.Report put(Cluster cluster, String archive, Map<String, byte[]> files)
            throws IOException {
        try (ArchiveWriter writer = cluster.write(archive)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                writer.addFile(entry(file.getKey()), new ByteArrayInputStream(file.getValue()));
            }
            return writer.finish();
        }
    }

    private static ArchiveEntry entry(String path) {
        return new ArchiveEntry(Kind.FILE, path, 0640, 1, 2, 3, 4, 0, 0, "");
    }

    /** Returns how many files of an archive can be read; each of these has its bytes. */
    private static int readable(Cluster cluster, String archive, Map<String, byte[]> files) throws IOException {
        int[] counts = new int[2];
        ArchiveReader reader = cluster.archive(archive);
        reader.forEach(entry -> {
            counts[0]++;
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try {
                reader.copy(entry, bytes);
            } catch (UnreadableBlockException e) {
                return;
            }
            assertArrayEquals(files.get(entry.path()), bytes.toByteArray(), entry.path());
            counts[1]++;
        });
        assertEquals(files.size(), counts[0]);
        return counts[1];
    }

    private void takeAway(Path volume) throws IOException {
        Files.move(volume, folder.resolve("away"));
        Files.createDirectory(volume);
    }

    private void bringBack(Path volume) throws IOException {
        Files.delete(volume);
        Files.move(folder.resolve("away"), volume);
    }

    private List<Path> blocks(Path volume) throws IOException {
        try (Stream<Path> all = Files.walk(volume.resolve(NAME + ".cluster/blocks"))) {
            return all.filter(Files::isRegularFile).toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    private Path fullest() throws IOException {
        Path fullest = folders.get(0);
        for (Path volume : folders) {
            fullest = blocks(volume).size() > blocks(fullest).size() ? volume : fullest;
        }
        return fullest;
    }

    private static long misplaced(Cluster cluster) throws IOException {
        return new ClusterCare(cluster, Progress.NONE)
                .volumes().stream().mapToLong(ClusterCare.Volume::misplaced).sum();
    }

    @Test
    void whatIsPutComesBackAndIsStoredOnce() throws IOException {
        Map<String, byte[]> files = files(FILES);
        try (Cluster cluster = open()) {
            ArchiveWriter.Report first = put(cluster, "one", files);
            assertEquals(FILES, first.files());
            assertEquals(
                    files.values().stream().mapToLong(bytes -> bytes.length).sum(), first.bytes());
            assertEquals(first.bytes(), first.newBytes());
            assertEquals(0, put(cluster, "two", files).newBytes());
            assertThrows(FileAlreadyExistsException.class, () -> put(cluster, "one", files));
            assertThrows(NoSuchFileException.class, () -> cluster.archive("none"));
            assertThrows(IllegalArgumentException.class, () -> cluster.write("a/b"));
            assertThrows(IllegalArgumentException.class, () -> cluster.write("=a"));
        }
        try (Cluster again = open()) {
            assertEquals(FILES, readable(again, "two", files));
            assertEquals(
                    List.of("one", "two"),
                    again.list().stream().map(Cluster.Listed::archive).toList());
            ClusterCare care = new ClusterCare(again, Progress.NONE);
            assertEquals(0, misplaced(again));
            ClusterCare.Check check = care.check();
            assertEquals(List.of(), check.damaged());
            assertEquals(Map.of(), check.incomplete());
        }
    }

    /** Volumes may be encrypted: what lies outside of them tells no name and no fingerprint, also after a kill. */
    @Test
    void namesAreInNoTemporaryFile() throws IOException {
        String name = "secret-plan-of-the-company";
        try (Cluster cluster = open();
                ArchiveWriter writer = cluster.write("one")) {
            for (int i = 0; i < 1000; i++) {
                writer.add(entry(name + i));
            }
            long bytes = 0;
            for (Path descriptor : openSpools()) {
                assertTrue(Files.readSymbolicLink(descriptor).toString().endsWith("(deleted)"));
                String all = Files.readString(descriptor, StandardCharsets.ISO_8859_1);
                assertFalse(all.contains(name));
                bytes += all.length();
            }
            // The control: the names are there.
            assertTrue(bytes > 1000 * name.length() / 2, bytes + " bytes");
            writer.finish();
        }
        try (Cluster cluster = open()) {
            int[] entries = new int[1];
            cluster.archive("one").forEach(entry -> entries[0] += entry.path().startsWith(name) ? 1 : 0);
            assertEquals(1000, entries[0]);
        }
    }

    /** Returns the descriptors of this process that lead to a spool. */
    private static List<Path> openSpools() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all.toList()) {
                try {
                    if (Files.readSymbolicLink(descriptor).toString().contains("/cluster-")) {
                        found.add(descriptor);
                    }
                } catch (NoSuchFileException e) {
                    // It was closed meanwhile.
                }
            }
        }
        return found;
    }

    @Test
    void readsAndWritesGoOnWithoutAVolumeAndItsBlocksReturn() throws IOException {
        Map<String, byte[]> before = files(FILES);
        Map<String, byte[]> meanwhile = files(FILES);
        try (Cluster cluster = open()) {
            put(cluster, "before", before);
        }
        Path gone = fullest();
        takeAway(gone);
        try (Cluster cluster = open()) {
            assertEquals(1, cluster.away().size());
            int readable = readable(cluster, "before", before);
            assertTrue(readable < FILES, "the control: some file has a block on the volume that is away");
            put(cluster, "meanwhile", meanwhile);
            assertEquals(FILES, readable(cluster, "meanwhile", meanwhile));
            // What would delete needs all, and refuses.
            assertThrows(IOException.class, () -> cluster.delete("before"));
            assertThrows(IOException.class, () -> new ClusterCare(cluster, Progress.NONE).collect(false));
            ClusterCare.Balance balance = new ClusterCare(cluster, Progress.NONE).balance();
            assertEquals(0, balance.movedBlocks());
            assertTrue(balance.waiting() > 0);
        }
        assertFalse(Files.exists(gone.resolve(NAME + ".cluster")), "nothing is written below a missing mount");
        bringBack(gone);
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "before", before));
            assertEquals(FILES, readable(cluster, "meanwhile", meanwhile), "found along the order");
            assertTrue(misplaced(cluster) > 0);
            assertTrue(new ClusterCare(cluster, Progress.NONE).balance().movedBlocks() > 0);
            assertEquals(0, misplaced(cluster));
            assertEquals(FILES, readable(cluster, "meanwhile", meanwhile));
        }
        for (Path volume : folders) {
            assertTrue(Files.exists(volume.resolve(NAME + ".cluster/archives/meanwhile~")), "a copy of the list");
        }
    }

    @Test
    void aVolumeIsAddedAndAnotherLeavesAndTheMovesCanBeStopped() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path added = Files.createDirectory(folder.resolve("d"));
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
            cluster.add(added);
            assertThrows(FileAlreadyExistsException.class, () -> cluster.add(added));
            assertTrue(misplaced(cluster) > 0);
            ClusterCare stopped = new ClusterCare(cluster, (stage, done, of) -> {
                if (stage.equals("blocks that move") && done == 1) {
                    throw new InterruptedIOException("stopped");
                }
            });
            assertThrows(InterruptedIOException.class, stopped::balance);
            assertEquals(1, blocks(added).size(), "what has moved stays");
            assertEquals(FILES, readable(cluster, "one", files));
        }
        folders.add(added);
        Path leaver = folders.get(0);
        try (Cluster cluster = open()) {
            assertEquals(4, cluster.membership().members().size());
            new ClusterCare(cluster, Progress.NONE).balance();
            assertEquals(0, misplaced(cluster));
            assertThrows(IOException.class, () -> cluster.forget(leaver, false));
            cluster.leave(leaver);
            new ClusterCare(cluster, Progress.NONE).balance();
            cluster.forget(leaver, false);
            assertEquals(FILES, readable(cluster, "one", files));
        }
        assertFalse(Files.exists(leaver.resolve(NAME + ".cluster")));
        folders.remove(leaver);
        try (Cluster cluster = open()) {
            assertEquals(3, cluster.membership().members().size());
            assertEquals(FILES, readable(cluster, "one", files));
        }
        // A lost one goes without its blocks.
        takeAway(added);
        try (Cluster cluster = open()) {
            assertThrows(IOException.class, () -> cluster.forget(folders.get(0), true), "that one is there");
            cluster.forget(added, true);
            assertEquals(List.of(), cluster.away());
            assertTrue(
                    new ClusterCare(cluster, Progress.NONE).check().incomplete().get("one") > 0);
        }
    }

    /** Another machine does not reach a volume, and gives it up, while this one puts blocks there. */
    @Test
    void aPutToAVolumeThatIsGivenUpMeanwhileIsRepeated() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path lost = folders.get(2);
        try (Cluster cluster = open();
                ArchiveWriter writer = cluster.write("one")) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                writer.addFile(entry(file.getKey()), new ByteArrayInputStream(file.getValue()));
            }
            try (Cluster elsewhere = Cluster.open(NAME, folders.subList(0, 2), SHAPE)) {
                elsewhere.forget(lost, true);
            }
            assertThrows(IOException.class, writer::finish);
        }
        try (Cluster cluster = open()) {
            assertEquals(List.of(), cluster.list());
            put(cluster, "one", files);
            assertEquals(FILES, readable(cluster, "one", files));
        }
    }

    /** Another machine does not reach a volume, and would give it up, while this one moves blocks there. */
    @Test
    void noVolumeIsGivenUpWhileBlocksMoveToIt() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path home = folders.get(2);
        takeAway(home);
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
        }
        bringBack(home);
        try (Cluster cluster = open();
                Cluster elsewhere = Cluster.open(NAME, folders.subList(0, 2), SHAPE)) {
            ClusterCare care = new ClusterCare(cluster, (stage, done, of) -> {
                if (stage.equals("blocks that move") && done == 1) {
                    assertThrows(IOException.class, () -> elsewhere.forget(home, true));
                }
            });
            assertTrue(care.balance().movedBlocks() > 1);
        }
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "one", files));
        }
    }

    /** The volume to which it moves is asked first, that from which it moves when it has gone. */
    @Test
    void aBlockIsFoundWhileItMoves() throws IOException {
        Map<String, byte[]> files = files(FILES);
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
        }
        Path home = fullest();
        Path from = folders.get(home.equals(folders.get(0)) ? 1 : 0);
        Path inPlace = blocks(home).get(0);
        Path moving = from.resolve(home.relativize(inPlace));
        Files.createDirectories(moving.getParent());
        Files.move(inPlace, moving);
        Path root = from.resolve(NAME + ".cluster");
        HookedDirectory hooked = new HookedDirectory(FileDirectory.open(root));
        hooked.readHook = (name, offset, end) -> {
            if (root.resolve(name).equals(moving) && Files.exists(moving)) {
                Files.move(moving, inPlace);
            }
        };
        try (Cluster cluster = open()) {
            replace(cluster, nodeIn(cluster, from), hooked);
            assertEquals(FILES, readable(cluster, "one", files));
        }
        assertTrue(Files.exists(inPlace), "it did not move");
    }

    private static ClusterNode nodeIn(Cluster cluster, Path volume) {
        return cluster.volumes().nodes().stream()
                .filter(each -> each.folder().equals(volume))
                .findFirst()
                .orElseThrow();
    }

    /** Lets a cluster use a volume through another directory. */
    private static void replace(Cluster cluster, ClusterNode node, Directory directory) throws IOException {
        cluster.volumes()
                .put(new ClusterNode(
                        node.folder(),
                        new FolderObjectStore(directory),
                        node.cluster(),
                        node.id(),
                        node.membership(),
                        node.version()));
    }

    /** A volume is read-only after its disk failed. What it still has is needed elsewhere. */
    @Test
    void blocksAreCopiedFromAVolumeThatIsReadOnly() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path failing = folders.get(0);
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
            cluster.leave(failing);
        }
        assertFalse(blocks(failing).isEmpty());
        HookedDirectory hooked = new HookedDirectory(FileDirectory.open(failing.resolve(NAME + ".cluster")));
        hooked.hook = (call, name) -> {
            throw new FileSystemException(name, null, "Read-only file system");
        };
        try (Cluster cluster = open()) {
            replace(cluster, nodeIn(cluster, failing), hooked);
            assertTrue(new ClusterCare(cluster, Progress.NONE).balance().damaged() > 0, "none can be deleted there");
        }
        takeAway(failing);
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "one", files));
        }
    }

    /** It does not know the new volume, because it began before. */
    @Test
    void aReaderFindsBlocksThatMoveToAnAddedVolume() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path added = Files.createDirectory(folder.resolve("d"));
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
        }
        try (Cluster reader = open();
                Cluster cluster = open()) {
            cluster.add(added);
            assertTrue(new ClusterCare(cluster, Progress.NONE).balance().movedBlocks() > 0);
            assertEquals(FILES, readable(reader, "one", files));
            // The control: on a machine where the volume has another folder, the message names it.
            takeAway(added);
            assertTrue(readable(reader, "one", files) < FILES);
            ArchiveReader archive = reader.archive("one");
            IOException away = assertThrows(
                    UnreadableBlockException.class,
                    () -> archive.forEach(entry -> archive.copy(entry, new ByteArrayOutputStream())));
            assertTrue(away.getMessage().contains(added.toString()), away::getMessage);
        }
    }

    @Test
    void wrongBytesAreNeverReturned() throws IOException {
        Map<String, byte[]> files = files(FILES);
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
        }
        Path fullest = fullest();
        Path damaged = blocks(fullest).get(0);
        byte[] right = Files.readAllBytes(damaged);
        byte[] wrong = right.clone();
        wrong[random.nextInt(wrong.length - 100)] ^= 1;
        Files.write(damaged, wrong);
        try (Cluster cluster = open()) {
            assertTrue(readable(cluster, "one", files) < FILES);
            ClusterCare.Check check = new ClusterCare(cluster, Progress.NONE).check();
            assertEquals(1, check.damaged().size());
            assertEquals(Map.of("one", 1L), check.incomplete());
        }
        // A copy on another volume is found, and replaces the wrong one.
        Path other = folders.get(fullest.equals(folders.get(0)) ? 1 : 0).resolve(fullest.relativize(damaged));
        Files.createDirectories(other.getParent());
        Files.write(other, right);
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "one", files));
            new ClusterCare(cluster, Progress.NONE).balance();
            assertEquals(
                    List.of(), new ClusterCare(cluster, Progress.NONE).check().damaged());
            assertFalse(Files.exists(other));
        }
        // The list of an archive is compared, too: one of its copies is enough.
        for (int copies = 0; copies < 3; copies++) {
            Path list = folders.get(copies).resolve(NAME + ".cluster/archives/one~");
            byte[] bytes = Files.readAllBytes(list);
            bytes[60] ^= 1;
            try (Cluster cluster = open()) {
                assertEquals(FILES, readable(cluster, "one", files));
            }
            Files.write(list, bytes);
        }
        try (Cluster cluster = open()) {
            assertThrows(IOException.class, () -> cluster.archive("one"), "the control: no copy is right");
        }
    }

    @Test
    void onlyWhatNoArchiveHasIsDeleted() throws IOException {
        Map<String, byte[]> kept = files(FILES / 2);
        Map<String, byte[]> other = files(FILES / 2);
        try (Cluster cluster = open()) {
            ClusterCare care = new ClusterCare(cluster, Progress.NONE);
            put(cluster, "kept", kept);
            put(cluster, "other", other);
            assertEquals(0, care.collect(false).deletedBlocks());
            cluster.delete("other");
            assertThrows(NoSuchFileException.class, () -> cluster.delete("other"));

            // An archive that is written meanwhile relies on blocks.
            try (ArchiveWriter writer = cluster.write("unfinished")) {
                writer.addFile(entry("x"), new ByteArrayInputStream(files(1).get("file0")));
                IOException refused = assertThrows(IOException.class, () -> care.collect(false));
                assertTrue(refused.getMessage().contains("put unfinished"), refused::getMessage);
            }
            assertEquals(
                    List.of("kept"),
                    cluster.list().stream().map(Cluster.Listed::archive).toList());
            // A process that was killed leaves its note; no put goes on while a collection has one.
            Notes.Use killed = cluster.notes().use("gc", Notes.Kind.ALONE);
            assertThrows(IOException.class, () -> cluster.write("refused"));
            assertThrows(IOException.class, () -> care.collect(false));
            ClusterCare.Collection done = care.collect(true);
            killed.close();
            assertTrue(done.deletedBytes()
                    >= other.values().stream().mapToLong(bytes -> bytes.length).sum());
            assertEquals(kept.size(), readable(cluster, "kept", kept));
            assertEquals(0, care.collect(false).deletedBlocks());
        }
    }

    @Test
    void aPutWhoseNoteWasRemovedIsNotAcknowledged() throws IOException {
        Map<String, byte[]> files = files(2);
        try (Cluster cluster = open();
                Cluster other = open()) {
            try (ArchiveWriter writer = cluster.write("late")) {
                writer.addFile(entry("x"), new ByteArrayInputStream(files.get("file0")));
                // Somebody takes it for killed.
                new ClusterCare(other, Progress.NONE).collect(true);
                IOException refused = assertThrows(IOException.class, writer::finish);
                assertTrue(refused.getMessage().contains("repeat"), refused::getMessage);
            }
            assertEquals(List.of(), other.list());
            put(cluster, "late", files);
            assertEquals(2, readable(other, "late", files));
        }
    }

    /** A volume fails while the put finds out that it is not to be acknowledged. */
    @Test
    void anArchiveThatIsNotAcknowledgedIsDeletedWhereThatIsPossible() throws IOException {
        try (Cluster cluster = open()) {
            ClusterNode failing = cluster.volumes().nodes().get(0);
            String name = IntStream.range(0, 1000)
                    .mapToObj(number -> "late" + number)
                    .filter(each -> cluster.archives().holders(each).get(0).id().equals(failing.id()))
                    .findFirst()
                    .orElseThrow();
            Path list = failing.folder().resolve(NAME + ".cluster/archives/" + name + "~");
            ClusterNode last = cluster.archives().holders(name).get(2);
            HookedDirectory hooked =
                    new HookedDirectory(FileDirectory.open(last.folder().resolve(NAME + ".cluster")));
            hooked.hook = (call, file) -> {
                if (call == HookedDirectory.Call.LINK && Files.isRegularFile(list)) {
                    for (Path note : notesOfPuts()) {
                        Files.delete(note);
                    }
                    // This cannot be deleted.
                    Files.delete(list);
                    Files.createDirectories(list.resolve("x"));
                }
            };
            replace(cluster, last, hooked);
            try (ArchiveWriter writer = cluster.write(name)) {
                writer.addFile(entry("x"), new ByteArrayInputStream(files(1).get("file0")));
                IOException refused = assertThrows(IOException.class, writer::finish);
                assertTrue(refused.getMessage().contains("repeat"), refused::getMessage);
            }
            assertEquals(List.of(list), lists(name));
        }
    }

    private List<Path> notesOfPuts() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> path.getFileName().toString().startsWith("=working-"))
                    .toList();
        }
    }

    @Test
    void noVolumeEndsItsMembershipWhileAPutMayHaveABlockThere() throws IOException {
        Map<String, byte[]> files = files(FILES);
        try (Cluster cluster = open();
                Cluster other = open()) {
            try (ArchiveWriter writer = cluster.write("one")) {
                for (Map.Entry<String, byte[]> file : files.entrySet()) {
                    writer.addFile(entry(file.getKey()), new ByteArrayInputStream(file.getValue()));
                }
                other.leave(folders.get(0));
                new ClusterCare(other, Progress.NONE).balance();
                assertThrows(IOException.class, () -> other.forget(folders.get(0), false));
                writer.finish();
            }
            new ClusterCare(other, Progress.NONE).balance();
            other.forget(folders.get(0), false);
            assertThrows(IOException.class, () -> cluster.write("two"), "it has the earlier list");
        }
        folders.remove(0);
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "one", files));
        }
    }

    @Test
    void noListOfVolumesChangesWhileBlocksMove() throws IOException {
        Path d = Files.createDirectory(folder.resolve("d"));
        try (Cluster cluster = open();
                Cluster other = open()) {
            put(cluster, "one", files(1));
            try (Notes.Use moves = cluster.notes().use("balance", Notes.Kind.MOVE)) {
                assertThrows(IOException.class, () -> other.add(d), moves::toString);
                assertThrows(IOException.class, () -> other.leave(folders.get(0)));
                new ClusterCare(other, Progress.NONE).balance();
                // It could copy the list of the archive again.
                assertThrows(IOException.class, () -> other.delete("one"));
            }
            try (Notes.Use removes = cluster.notes().use("rm one", Notes.Kind.REMOVE)) {
                assertThrows(
                        IOException.class, () -> new ClusterCare(other, Progress.NONE).balance(), removes::toString);
                put(other, "two", files(1));
            }
            other.delete("one");
            other.add(d);
            assertThrows(
                    IOException.class,
                    () -> new ClusterCare(cluster, Progress.NONE).balance(),
                    "it has the earlier list of volumes");
        }
    }

    @Test
    void anArchiveWhoseListsAreAllDamagedHidesNoOther() throws IOException {
        try (Cluster cluster = open()) {
            put(cluster, "one", files(1));
            put(cluster, "two", files(1));
            for (Path list : lists("one")) {
                Files.write(list, new byte[10]);
            }
            List<Cluster.Listed> all = cluster.list();
            assertEquals(2, all.size());
            assertFalse(all.get(0).damage().isEmpty(), all::toString);
            assertEquals("", all.get(1).damage());
        }
    }

    /** Killed between the first object on the new volume and the list of volumes that has it. */
    @Test
    void theAdditionOfAVolumeThatWasKilledIsRepeated() throws IOException {
        Path d = Files.createDirectory(folder.resolve("d"));
        try (Cluster cluster = open()) {
            var unused = ClusterNode.make(d, NAME, cluster.membership().id());
            cluster.add(d);
            assertEquals(4, cluster.membership().members().size());
            assertThrows(FileAlreadyExistsException.class, () -> cluster.add(d), "the control");
        }
    }

    @Test
    void aVolumeWithTheOnlyRightListOfAnArchiveKeepsIt() throws IOException {
        Map<String, byte[]> files = files(FILES);
        Path d = Files.createDirectory(folder.resolve("d"));
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
            cluster.add(d);
            new ClusterCare(cluster, Progress.NONE).balance();
        }
        folders.add(d);
        // Two of three copies are damaged, one of them in its length.
        List<Path> lists = lists("one");
        byte[] bytes = Files.readAllBytes(lists.get(1));
        bytes[60] ^= 1;
        Files.write(lists.get(1), bytes);
        Files.write(lists.get(2), new byte[10]);
        Path leaver = folder.resolve(folder.relativize(lists.get(0)).getName(0));
        try (Cluster cluster = open()) {
            ClusterCare care = new ClusterCare(cluster, Progress.NONE);
            assertEquals(2, care.check().damaged().size());
            cluster.leave(leaver);
            assertEquals(0, care.balance().damaged());
            assertEquals(List.of(), care.check().damaged());
            // No copy is where it could be needed: as if the other volumes were full.
            for (Path list : lists("one")) {
                if (!list.startsWith(leaver)) {
                    Files.delete(list);
                }
            }
            IOException only = assertThrows(IOException.class, () -> cluster.forget(leaver, false));
            assertTrue(only.getMessage().contains("only list"), only::getMessage);
            care.balance();
            cluster.forget(leaver, false);
        }
        folders.remove(leaver);
        try (Cluster cluster = open()) {
            assertEquals(FILES, readable(cluster, "one", files));
        }
    }

    private List<Path> lists(String archive) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> path.endsWith("archives/" + archive + "~"))
                    .toList();
        }
    }

    @Test
    void noBlockOfTwoArchivesWithOneNameIsDeleted() throws IOException {
        Map<String, byte[]> first = files(FILES);
        Map<String, byte[]> second = files(FILES);
        // Two machines that see no volume in common.
        try (Cluster cluster = Cluster.open(NAME, folders.subList(0, 1), SHAPE)) {
            put(cluster, "one", first);
        }
        try (Cluster cluster = Cluster.open(NAME, folders.subList(1, 3), SHAPE)) {
            put(cluster, "one", second);
        }
        try (Cluster cluster = open()) {
            ClusterCare care = new ClusterCare(cluster, Progress.NONE);
            assertEquals(0, care.collect(false).deletedBlocks());
            ClusterCare.Check check = care.check();
            assertEquals(1, check.damaged().size());
            assertTrue(check.damaged().get(0).contains("different archives"), check::toString);
        }
        try (Cluster cluster = Cluster.open(NAME, folders.subList(0, 1), SHAPE)) {
            assertEquals(FILES, readable(cluster, "one", first));
        }
        try (Cluster cluster = Cluster.open(NAME, folders.subList(1, 3), SHAPE)) {
            assertEquals(FILES, readable(cluster, "one", second));
        }
    }

    @Test
    void aBlockThatCannotBeReadDoesNotHideTheOthers() throws IOException {
        Path gone = folders.get(0);
        takeAway(gone);
        Map<String, byte[]> files = files(FILES);
        try (Cluster cluster = open()) {
            put(cluster, "one", files);
        }
        bringBack(gone);
        try (Cluster cluster = open()) {
            long misplaced = misplaced(cluster);
            Path block = Stream.concat(blocks(folders.get(1)).stream(), blocks(folders.get(2)).stream())
                    .filter(path -> cluster.membership()
                            .home(HexFormat.fromHexDigits(path.getFileName().toString(), 0, 4))
                            .place()
                            .equals(gone.toString()))
                    .findFirst()
                    .orElseThrow();
            // A volume tells damage as a failed read, which a folder gives, too.
            Files.delete(block);
            Files.createDirectory(block);
            ClusterCare.Balance balance = new ClusterCare(cluster, Progress.NONE).balance();
            assertEquals(1, balance.damaged());
            assertEquals(misplaced - 1, balance.movedBlocks());
        }
    }

    @Test
    void foldersOfOthersAreRefused() throws IOException {
        assertThrows(FileAlreadyExistsException.class, () -> Cluster.create(NAME, folders));
        Path other = Files.createDirectory(folder.resolve("other"));
        Cluster.create(NAME, List.of(other));
        assertThrows(IOException.class, () -> Cluster.open(NAME, List.of(folders.get(0), other)));
        assertThrows(IOException.class, () -> Cluster.open(NAME, List.of(other, other)));
        assertThrows(IOException.class, () -> Cluster.open("unknown", folders));
        assertThrows(FileAlreadyExistsException.class, () -> Cluster.create("twice", List.of(other, other)));
        Cluster.create("twice", List.of(other));
        // Of two changes of one version, one is made, and the other can be repeated.
        Path d = Files.createDirectory(folder.resolve("d"));
        Path e = Files.createDirectory(folder.resolve("e"));
        try (Cluster first = open();
                Cluster second = open()) {
            first.add(d);
            IOException late = assertThrows(IOException.class, () -> second.add(e));
            assertTrue(late.getMessage().contains("repeat"), late::getMessage);
        }
        folders.add(d);
        try (Cluster again = open()) {
            again.add(e);
        }
    }

    @Test
    void entriesThatLeadOutAreRefused() throws IOException {
        for (String path : List.of("../x", "a/../b", "/etc", "a//b", "a/", "./a", "a\0b")) {
            try (Cluster cluster = open()) {
                try (ArchiveWriter writer = cluster.write("out" + path.hashCode())) {
                    writer.add(new ArchiveEntry(Kind.FOLDER, path, 0, 0, 0, 0, 0, 0, 0, ""));
                    writer.finish();
                }
                assertThrows(CorruptionException.class, () -> cluster.archive("out" + path.hashCode()), path);
            }
        }
    }

    /** docs/FORMAT.md: another program must read what this one wrote. */
    @Test
    void theFormatOfAnArchive() throws IOException {
        byte[] header = new ArchiveHeader(1, 2, 3, 4).encode();
        assertEquals(
                "53415241" + "00000001" + "0000000000000001" + "0000000000000002" + "0000000000000003"
                        + "0000000000000004",
                HexFormat.of().formatHex(header));
        assertEquals(new ArchiveHeader(1, 2, 3, 4), ArchiveHeader.decode("x", header));
        header[7] = 2;
        assertThrows(IOException.class, () -> ArchiveHeader.decode("x", header));
        ArchiveEntry link = new ArchiveEntry(Kind.LINK, "a/ü", 0777, 1000, 1001, -5, 6, 7, 8, "t");
        assertEquals(
                "02" + "01ff" + "000003e8" + "000003e9" + "fffffffffffffffb" + "00000006" + "0000000000000007"
                        + "0000000000000008" + "00000004" + "612fc3bc" + "00000001" + "74",
                HexFormat.of().formatHex(link.encode()));
    }
}
