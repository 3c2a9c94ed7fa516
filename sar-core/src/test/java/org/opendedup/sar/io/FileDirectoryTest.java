package org.opendedup.sar.io;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.NoSpaceException;

final class FileDirectoryTest extends DirectoryContract {
    @TempDir
    Path folder;

    @Override
    Directory newDirectory() throws IOException {
        return FileDirectory.open(folder);
    }

    @Test
    void aMissingFolderIsRefused() {
        assertThrows(NoSuchFileException.class, () -> FileDirectory.open(folder.resolve("missing")));
    }

    @Test
    void aFolderThatWasRemovedIsNotMadeAgain() throws IOException {
        Path removed = Files.createDirectory(folder.resolve("removed"));
        FileDirectory directory = FileDirectory.open(removed);
        directory.create("below/control").close();
        Files.delete(removed.resolve("below/control"));
        Files.delete(removed.resolve("below"));
        Files.delete(removed);
        assertThrows(NoSuchFileException.class, () -> directory.create("file"));
        assertThrows(NoSuchFileException.class, () -> directory.create("below/file"));
        assertFalse(Files.exists(removed));
    }

    @Test
    void aFileIsRefusedAsAFolder() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThrows(NotDirectoryException.class, () -> FileDirectory.open(file));
    }

    @Test
    void namesDoNotLeadOutside() throws IOException {
        Directory directory = newDirectory();
        assertThrows(IllegalArgumentException.class, () -> directory.open("../outside"));
        assertThrows(IllegalArgumentException.class, () -> directory.create("/etc/outside"));
    }

    @Test
    void aFullDiskIsReportedAsSuch() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/full")), "needs /dev/full");
        Path device = Path.of("/dev/full");
        try (Output output =
                new FileOutput(FileChannel.open(device, StandardOpenOption.WRITE), device, new TransferBuffers(1))) {
            assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(new byte[10])));
        }
    }

    @Test
    void aFurtherNameIsDurableAfterASync() throws IOException {
        Set<Path> forced = new HashSet<>();
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void force(Path synced) {
                forced.add(folder.relativize(synced));
            }
        });
        directory.create("new/file").close();
        directory.sync();
        forced.clear();
        directory.link("new/file", "names/further");
        directory.sync();
        assertEquals(Set.of(Path.of(""), Path.of("names")), forced);
        directory.delete("new/file");
        assertTrue(directory.exists("names/further"));
        directory.create("other").close();
        assertThrows(FileAlreadyExistsException.class, () -> directory.link("other", "names/further"));
    }

    @Test
    void foldersBeforeTheFirstNameAreNotRead() throws IOException {
        List<String> read = new ArrayList<>();
        Directory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public DirectoryStream<Path> read(Path listed) throws IOException {
                read.add(folder.relativize(listed).toString());
                return super.read(listed);
            }
        });
        for (String name : List.of("1/a", "2/a", "2/b", "2/x/a", "2/y/a", "3/a")) {
            directory.create(name).close();
        }
        assertEquals(List.of("2/b", "2/x/a", "2/y/a", "3/a"), directory.listFrom("2/b"));
        assertEquals(Set.of("", "2", "2/x", "2/y", "3"), Set.copyOf(read));
        read.clear();
        assertEquals(List.of("2/y/a", "3/a"), directory.listFrom("2/y/"));
        assertEquals(Set.of("", "2", "2/y", "3"), Set.copyOf(read));
        read.clear();
        directory.list();
        assertEquals(Set.of("", "1", "2", "2/x", "2/y", "3"), Set.copyOf(read), "the control: all are read");
    }

    @Test
    void aFileThatIsDeletedWhileItsFolderIsReadIsNotListed() throws IOException {
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public DirectoryStream<Path> read(Path listed) throws IOException {
                return new DeletingStream(super.read(listed), "deleted");
            }
        });
        directory.create("deleted").close();
        directory.create("kept").close();
        assertEquals(List.of("kept"), directory.list());
    }

    /** Makes folders and makes none of them durable. */
    private static class UnforcedCalls implements FileDirectory.FolderCalls {
        @Override
        public void create(Path made) throws IOException {
            Files.createDirectory(made);
        }

        @Override
        public void force(Path synced) throws IOException {}
    }

    /** Deletes a file after it is found and before its attributes are read. */
    private record DeletingStream(DirectoryStream<Path> entries, String name) implements DirectoryStream<Path> {
        @Override
        public Iterator<Path> iterator() {
            Iterator<Path> found = entries.iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return found.hasNext();
                }

                @Override
                public Path next() {
                    Path entry = found.next();
                    if (entry.endsWith(name)) {
                        assertTrue(entry.toFile().delete());
                    }
                    return entry;
                }
            };
        }

        @Override
        public void close() throws IOException {
            entries.close();
        }
    }

    @Test
    void moreThanIsFreeIsNotReserved() throws IOException {
        Directory directory = newDirectory();
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(new byte[] {1}));
            assertFalse(output.reserve(2 * directory.usableBytes()));
            assertFalse(output.reserve(Long.MAX_VALUE));
            assertEquals(1, output.append(ByteBuffer.wrap(new byte[] {2})));
        }
        assertEquals(2, directory.length("file"));
    }

    @Test
    void aClosedFileReservesNothing() throws IOException {
        Output output = newDirectory().create("file");
        output.close();
        assertFalse(output.reserve(100_000));
        output.trim();
    }

    /** The files of /proc have no space to give back. */
    @Test
    void aFileSystemThatCannotGiveRangesBackSaysSo() throws IOException {
        Path process = Path.of("/proc/self");
        assumeTrue(Files.isWritable(process.resolve("comm")), "needs /proc");
        assertFalse(FileDirectory.open(process).release("comm", List.of(new FileRange(0, 4096))));
    }

    @Test
    void aReleaseThatFailsNamesTheFile() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/full")), "needs /dev/full");
        Files.createDirectory(folder.resolve("inner"));
        List<FileRange> ranges = List.of(new FileRange(0, 4096));
        Directory devices = FileDirectory.open(Path.of("/dev"));
        assertNames("/dev/full", assertThrows(IOException.class, () -> devices.release("full", ranges)));
        Directory directory = newDirectory();
        assertNames("/inner", assertThrows(IOException.class, () -> directory.release("inner", ranges)));
    }

    private static void assertNames(String file, IOException e) {
        assertTrue(e.getMessage().contains(file), e.getMessage());
    }

    /** Calls that the test can block. */
    private static final class HeldCalls extends UnforcedCalls {
        final CountDownLatch created = new CountDownLatch(1);
        final CountDownLatch forcing = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        final List<Path> forced = new CopyOnWriteArrayList<>();
        volatile boolean holdsBeforeCreate;
        volatile boolean holdsCreate;
        volatile boolean holdsForce;

        @Override
        public void create(Path made) throws IOException {
            if (holdsBeforeCreate) {
                created.countDown();
                await(released);
            }
            super.create(made);
            if (holdsCreate) {
                created.countDown();
                await(released);
            }
        }

        @Override
        public void force(Path synced) {
            if (holdsForce) {
                holdsForce = false;
                forcing.countDown();
                await(released);
            }
            forced.add(synced);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(60, TimeUnit.SECONDS), "held up for ever");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Thread start(Throwing action, List<Throwable> failures) {
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (Throwable e) {
                failures.add(e);
            }
        });
        thread.start();
        return thread;
    }

    private interface Throwing {
        void run() throws Exception;
    }

    @Test
    void aSyncEndsAfterThatOfAnotherThreadWhoForcesTheSameFolder() throws Exception {
        HeldCalls calls = new HeldCalls();
        calls.holdsForce = true;
        FileDirectory directory = FileDirectory.open(folder, calls);
        directory.create("file").close();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        Thread first = start(directory::sync, failures);
        await(calls.forcing);
        Thread second = start(
                () -> {
                    directory.sync();
                    assertEquals(List.of(folder), calls.forced, "it returned before the folder was forced");
                },
                failures);
        TestWait.until(() -> second.getState() == Thread.State.WAITING || !second.isAlive());
        calls.released.countDown();
        first.join();
        second.join();
        assertEquals(List.of(), failures);
    }

    @Test
    void aSyncForcesTheFolderAboveOneThatAnotherThreadIsJustMaking() throws Exception {
        HeldCalls calls = new HeldCalls();
        calls.holdsCreate = true;
        FileDirectory directory = FileDirectory.open(folder, calls);
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        Thread first = start(() -> directory.create("new/first").close(), failures);
        await(calls.created);
        Thread second = start(
                () -> {
                    directory.create("new/second").close();
                    directory.sync();
                    assertTrue(
                            calls.forced.contains(folder), "the new folder may be lost with the file: " + calls.forced);
                },
                failures);
        TestWait.until(() -> second.getState() == Thread.State.WAITING || !second.isAlive());
        calls.released.countDown();
        first.join();
        second.join();
        assertEquals(List.of(), failures);
    }

    @Test
    void aSyncThatComesWhileAFolderIsAboutToBeMadeForgetsNothing() throws Exception {
        HeldCalls calls = new HeldCalls();
        calls.holdsBeforeCreate = true;
        FileDirectory directory = FileDirectory.open(folder, calls);
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        Thread first = start(() -> directory.create("new/first").close(), failures);
        await(calls.created);
        Thread second = start(directory::sync, failures);
        TestWait.until(() -> second.getState() == Thread.State.WAITING || !second.isAlive());
        calls.forced.clear();
        calls.released.countDown();
        first.join();
        second.join();
        directory.sync();
        assertEquals(List.of(), failures);
        assertTrue(calls.forced.contains(folder), "not forced since the folder was made: " + calls.forced);
    }

    @Test
    void aFolderWhoseForceFailedIsForcedByTheNextSync() throws IOException {
        List<Path> forced = new ArrayList<>();
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void force(Path synced) throws IOException {
                forced.add(synced);
                if (forced.size() == 1) {
                    throw new IOException("Input/output error");
                }
            }
        });
        directory.create("a/file").close();
        assertThrows(IOException.class, directory::sync);
        directory.sync();
        assertEquals(Set.of(folder, folder.resolve("a")), Set.copyOf(forced.subList(1, forced.size())));
    }

    /** On a disk that is gone, or read-only, no folder can be forced, and none needs to be. */
    @Test
    void aFolderInWhichNothingCouldBeChangedIsNotForced() throws IOException {
        List<Path> forced = new ArrayList<>();
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void create(Path made) throws IOException {
                if (made.endsWith("refused")) {
                    throw new IOException("Read-only file system");
                }
                super.create(made);
            }

            @Override
            public void force(Path synced) {
                forced.add(synced);
            }
        });
        directory.create("a/file").close();
        directory.sync();
        forced.clear();
        assertThrows(IOException.class, () -> directory.create("refused/file"));
        // More than a name may have.
        assertThrows(IOException.class, () -> directory.create("a/" + "x".repeat(300)));
        assertThrows(IOException.class, () -> directory.delete("a"));
        directory.sync();
        assertEquals(List.of(), forced);
        // The controls: another call made this file, and deleted that one.
        assertThrows(FileAlreadyExistsException.class, () -> directory.create("a/file"));
        directory.sync();
        assertThrows(NoSuchFileException.class, () -> directory.delete("gone"));
        directory.sync();
        assertEquals(List.of(folder.resolve("a"), folder), forced);
    }

    /** Linux reports that a folder could not be written once, to one of those who force it. */
    /** A volume that is only read forces nothing, and the cache of its store makes and deletes files all the time. */
    @Test
    void filesThatAreMadeAndDeletedAgainTakeNoMemory() throws IOException {
        AtomicInteger forces = new AtomicInteger();
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void force(Path synced) {
                forces.incrementAndGet();
            }
        });
        directory.create("cache/first").close();
        directory.sync();
        forces.set(0);
        for (int i = 0; i < 100; i++) {
            directory.create("cache/" + i).close();
            directory.delete("cache/" + i);
        }
        assertEquals(0, directory.remembered());
        directory.sync();
        assertEquals(1, forces.get(), "the deletions are made durable");
    }

    /** Nobody doubts names in folders that were not tried, so each is. */
    @Test
    void eachFolderIsForcedAlsoWhenOneFails() throws IOException {
        List<Path> forced = new ArrayList<>();
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void force(Path one) throws IOException {
                forced.add(one);
                throw new IOException("Input/output error " + one);
            }
        });
        for (String name : List.of("a", "b", "c")) {
            directory.create(name + "/file").close();
        }
        IOException failure = assertThrows(IOException.class, directory::sync);
        assertEquals(Set.of(folder, folder.resolve("a"), folder.resolve("b"), folder.resolve("c")), Set.copyOf(forced));
        assertEquals(forced.size() - 1, failure.getSuppressed().length);
    }

    @Test
    void aNameStaysInDoubtAfterAForceOfItsFolderFailed() throws IOException {
        List<String> failing = new ArrayList<>();
        FileDirectory[] made = new FileDirectory[1];
        FileDirectory directory = FileDirectory.open(folder, new UnforcedCalls() {
            @Override
            public void force(Path forced) throws IOException {
                if (failing.remove(folder.relativize(forced).toString())) {
                    made[0].create("a/meanwhile").close();
                    made[0].delete("a/deleted");
                    throw new IOException("Input/output error");
                }
            }
        });
        made[0] = directory;
        directory.create("a/before").close();
        directory.sync();
        failing.add("a");
        for (String name : List.of("a/doubtful", "a/deleted", "a/moved", "b/elsewhere")) {
            directory.create(name).close();
        }
        assertThrows(IOException.class, directory::sync);
        directory.create("a/after").close();
        directory.rename("a/moved", "a/new name");
        directory.create("a/deleted").close();
        directory.sync();
        for (String name : List.of("a/before", "a/after", "a/new name", "a/deleted", "b/elsewhere")) {
            directory.checkName(name);
        }
        for (String name : List.of("a/doubtful", "a/meanwhile")) {
            IOException refused = assertThrows(IOException.class, () -> directory.checkName(name));
            assertNames(name, refused);
            assertThrows(IOException.class, () -> directory.checkName(name), "each caller learns of it");
        }
        directory.create("c/file").close();
        failing.add("");
        directory.delete("a/meanwhile");
        assertThrows(IOException.class, directory::sync);
        directory.sync();
        assertThrows(IOException.class, () -> directory.checkName("c/file"), "its folder is in doubt");
        directory.checkName("a/after");
    }

    @Test
    void whatItMakesIsItsOwnersOnly() throws IOException {
        newDirectory().create("new/file").close();
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("new"))));
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("new/file"))));
    }

    @Test
    void whatTheKernelHasOfAForcedRangeIsForgotten() throws Exception {
        FileDirectory directory = FileDirectory.open(folder);
        int bytes = 1 << 20;
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.allocate(bytes));
            output.force();
        }
        Assumptions.assumeTrue(cachedBytes("file") == bytes, "the kernel does not keep what was written");
        try (Input input = directory.open("file")) {
            input.forgetCached(0, bytes / 2);
            Assumptions.assumeTrue(
                    !Files.getFileStore(folder).type().equals("tmpfs"), "there is no device behind the cache");
            assertEquals(bytes / 2, cachedBytes("file"));
            ByteBuffer read = ByteBuffer.allocate(bytes);
            input.readFully(0, read);
            assertArrayEquals(new byte[bytes], read.array());
        }
    }

    /** As one of a file system that was mounted anew. */
    @Test
    void aFileKnowsThatItsNameLeadsToAnotherOne() throws IOException {
        FileDirectory directory = FileDirectory.open(folder);
        directory.create("file").close();
        directory.create("other").close();
        try (Input input = directory.open("file")) {
            assertFalse(input.isReplaced());
            directory.rename("other", "file");
            assertTrue(input.isReplaced());
        }
    }

    /** Bytes of a file that the kernel has in memory. */
    private long cachedBytes(String name) throws Exception {
        Process process = new ProcessBuilder(
                        "fincore", "-b", "-n", "-o", "RES", folder.resolve(name).toString())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        assertEquals(0, process.waitFor(), printed);
        return Long.parseLong(printed);
    }
}
