package org.opendedup.sar.sdfs.restore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/** Restores trees of a volume that nobody has mounted. */
@Timeout(60)
class TreeRestoreTest {
    private static final int MIB = 1 << 20;
    /** Length of a file in several containers. */
    private static final int LARGE_MIB = 20;

    private static final long RARELY = Long.MAX_VALUE;

    @TempDir
    Path folder;

    private VolumeConfig config;
    private Volume volume;
    private Path target;

    @BeforeEach
    void makeVolume() throws IOException {
        config = Definitions.plain("pool0", folder.resolve("base")).engineConfig();
        Volume.create(config);
        volume = Volume.open(config);
        target = folder.resolve("out");
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    @Test
    void aTreeComesBackWithAllItsBytesAndEachContainerIsReadOnce() throws IOException {
        byte[] shared = random(12 * MIB, 1);
        byte[] mixed = mixed(shared);
        long sub = volume.makeDirectory(Inode.ROOT, bytes("sub"), 0750, new Owner(0, 0))
                .inode();
        write(make(Inode.ROOT, "shared"), 0, shared);
        write(make(sub, "mixed"), 0, mixed);
        write(make(sub, "empty"), 0, new byte[0]);
        volume.sync();
        long containers = volume.statistics().containers();
        long reads = volume.statistics().diskReads();

        RestoreStatus status = restore();

        assertEquals(RestoreStatus.Phase.DONE, status.phase());
        assertEquals(5, status.entries());
        assertEquals(status.bytes(), status.bytesDone());
        assertEquals(shared.length + mixed.length, status.bytes());
        assertArrayEquals(shared, Files.readAllBytes(target.resolve("shared")));
        assertArrayEquals(mixed, Files.readAllBytes(target.resolve("sub/mixed")));
        assertEquals(0, Files.size(target.resolve("sub/empty")));
        long read = volume.statistics().diskReads() - reads;
        assertTrue(read <= 2 * containers, () -> read + " reads of " + containers + " containers");
        assertLeavesNothingBeside();
    }

    /** The other file's chunks in another order, between own ones. */
    private static byte[] mixed(byte[] shared) {
        byte[] mixed = random(12 * MIB, 2);
        Random random = new Random(3);
        for (int at = 0; at + MIB <= mixed.length; at += MIB) {
            System.arraycopy(shared, random.nextInt(shared.length - MIB / 2), mixed, at, MIB / 2);
        }
        return mixed;
    }

    @Test
    void holesStayHoles() throws IOException {
        long inode = make(Inode.ROOT, "sparse");
        write(inode, 500L * MIB, bytes("end"));
        write(inode, 100L * MIB, new byte[MIB]);
        restore();
        Path restored = target.resolve("sparse");
        assertEquals(500L * MIB + 3, Files.size(restored));
        assertTrue((long) (int) blocks(restored) * 512 < MIB, () -> "too many blocks");
    }

    private static int blocks(Path file) {
        try {
            Process process = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
            return Integer.parseInt(new String(process.getInputStream().readAllBytes(), UTF_8).strip());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void metadataComesBack() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give files away");
        long file = make(Inode.ROOT, "file");
        write(file, 0, bytes("hello"));
        volume.link(file, Inode.ROOT, bytes("second name"));
        volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("../nowhere"), new Owner(7, 8));
        volume.makeNode(Inode.ROOT, bytes("fifo"), 0010600, 0, new Owner(0, 0));
        long sub = volume.makeDirectory(Inode.ROOT, bytes("sub"), 0510, new Owner(5, 6))
                .inode();
        write(make(sub, "inside"), 0, bytes("x"));
        volume.change(file, new AttributeChange(04751, 1234, 4321, null, 1_000_000_007L, 2_000_000_009L, null));
        volume.change(sub, new AttributeChange(null, null, null, null, 3_000_000_000L, 4_000_000_000L, null));
        volume.setExtendedAttribute(file, bytes("user.colour"), bytes("blue"), SetMode.CREATE);

        RestoreStatus status = restore();

        assertEquals(0, status.attributesLost());
        Path restored = target.resolve("file");
        assertEquals(1234, Files.getAttribute(restored, "unix:uid"));
        assertEquals(4321, Files.getAttribute(restored, "unix:gid"));
        assertEquals(0104751, Files.getAttribute(restored, "unix:mode"));
        assertEquals(2_000, Files.getLastModifiedTime(restored).toMillis());
        assertEquals(2, Files.getAttribute(restored, "unix:nlink"));
        assertEquals("hello", Files.readString(target.resolve("second name")));
        assertArrayEquals(bytes("blue"), (byte[]) Files.getAttribute(restored, "user:colour"));
        Path link = target.resolve("link");
        assertEquals("../nowhere", Files.readSymbolicLink(link).toString());
        assertEquals(7, Files.getAttribute(link, "unix:uid", LinkOption.NOFOLLOW_LINKS));
        assertEquals(0010600, Files.getAttribute(target.resolve("fifo"), "unix:mode"));
        assertEquals("r-x--x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(target.resolve("sub"))));
        assertEquals(4_000, Files.getLastModifiedTime(target.resolve("sub")).toMillis());
    }

    @Test
    void withoutTheOwnerThereAreNoBitsThatSetIdsAndAllElseComesBack() throws IOException {
        long file = make(Inode.ROOT, "file");
        write(file, 0, bytes("hello"));
        volume.change(file, new AttributeChange(06555, 1234, 4321, null, 1_000_000_007L, 2_000_000_009L, null));
        volume.setExtendedAttribute(file, bytes("user.colour"), bytes("blue"), SetMode.CREATE);

        RestoreStatus status = restore(with("fchown", (arguments, real) -> refuse()));

        assertEquals(2, status.attributesLost());
        Path restored = target.resolve("file");
        assertEquals(0100555, Files.getAttribute(restored, "unix:mode"));
        assertEquals("hello", Files.readString(restored));
        assertArrayEquals(bytes("blue"), (byte[]) Files.getAttribute(restored, "user:colour"));
        assertEquals(2_000, Files.getLastModifiedTime(restored).toMillis());
    }

    @Test
    void withoutTheOwnerThereAreNoCapabilities() throws IOException {
        long file = make(Inode.ROOT, "file");
        volume.setExtendedAttribute(file, bytes("security.capability"), new byte[20], SetMode.CREATE);
        volume.setExtendedAttribute(file, bytes("user.colour"), bytes("blue"), SetMode.CREATE);
        List<String> set = new ArrayList<>();
        Libc noting = with("fsetxattr", (arguments, real) -> {
            set.add(name(arguments[1]));
            return 0;
        });
        assertEquals(0, restore(noting).attributesLost(), "the control");
        assertEquals(
                List.of("security.capability", "user.colour"),
                set.stream().sorted().toList());
        set.clear();
        target = folder.resolve("unowned");
        RestoreStatus status = restore(with(noting, "fchown", (arguments, real) -> refuse()));
        assertEquals(List.of("user.colour"), set);
        assertEquals(3, status.attributesLost(), status::toString);
        assertTrue(
                status.losses()
                        .contains(target.resolve("file")
                                + ": the attribute security.capability: is not set, "
                                + "because the owner could not be set"),
                status::toString);
    }

    @Test
    void aFileWithTwoNamesThatIsRemovedDuringTheWalkIsLeftOut() throws IOException {
        long linked = make(Inode.ROOT, "a");
        write(linked, 0, bytes("hello"));
        volume.link(linked, Inode.ROOT, bytes("b"));
        volume.forget(linked, 2);
        write(make(Inode.ROOT, "c"), 0, bytes("stays"));
        int folders = 0;
        do {
            volume.makeDirectory(Inode.ROOT, bytes("folder" + folders++), 0755, new Owner(0, 0));
        } while (!lastOfRoot().startsWith("folder"));
        String last = lastOfRoot();
        Libc removing = with("mkdirat", (arguments, real) -> {
            if (name(arguments[1]).equals(last)) {
                volume.unlink(Inode.ROOT, bytes("a"));
                volume.unlink(Inode.ROOT, bytes("b"));
            }
            return real.call();
        });

        RestoreStatus status = restore(removing);

        assertEquals(4 + folders, status.entries(), "both names were found before they went");
        assertFalse(Files.exists(target.resolve("a")));
        assertFalse(Files.exists(target.resolve("b")));
        assertEquals("stays", Files.readString(target.resolve("c")));
        assertLeavesNothingBeside();
    }

    /** The name that a walk visits last. */
    private String lastOfRoot() throws IOException {
        var last = new AtomicReference<>("");
        volume.list(Inode.ROOT, 0, false, (name, inode, type, behind, attributes) -> {
            last.set(new String(name, UTF_8));
            return true;
        });
        return last.get();
    }

    /** What a call does instead. */
    @FunctionalInterface
    interface Instead {
        Object of(Object[] arguments, Callable<Object> real) throws Exception;
    }

    private static Object refuse() {
        return fail(Errno.EPERM);
    }

    static Object fail(int errno) {
        Runtime.getSystemRuntime().setLastError(errno);
        return -1;
    }

    /** The name that a call was given. */
    static String name(Object argument) {
        byte[] terminated = (byte[]) argument;
        return new String(terminated, 0, terminated.length - 1, UTF_8);
    }

    /** The real calls, but for one of them. */
    static Libc with(String call, Instead instead) {
        return with(new Libc(), call, instead);
    }

    static Libc with(Libc calls, String call, Instead instead) {
        Libc.Functions real = calls.functions();
        return new Libc((Libc.Functions) Proxy.newProxyInstance(
                Libc.class.getClassLoader(),
                new Class<?>[] {Libc.Functions.class},
                (proxy, method, arguments) -> method.getName().equals(call)
                        ? instead.of(arguments, () -> method.invoke(real, arguments))
                        : method.invoke(real, arguments)));
    }

    @Test
    void aNameThatIsNoTextComesBack() throws IOException {
        byte[] name = {'a', (byte) 0xff, (byte) 0xfe};
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        write(inode, 0, bytes("x"));
        restore();
        Process listing = new ProcessBuilder("ls", "--quoting-style=c", target.toString()).start();
        assertEquals("\"a\\377\\376\"", new String(listing.getInputStream().readAllBytes(), UTF_8).strip());
    }

    @Test
    void aSingleFileIsRestoredUnderTheNameThatIsAskedFor() throws IOException {
        long file = make(Inode.ROOT, "file");
        write(file, 0, random(100_000, 5));
        new TreeRestore(volume, "file", target).run(file);
        assertArrayEquals(random(100_000, 5), Files.readAllBytes(target));
        assertLeavesNothingBeside();
    }

    @Test
    void whatIsThereIsNeverOverwritten() throws IOException {
        write(make(Inode.ROOT, "file"), 0, bytes("new"));
        Files.createDirectory(target);
        Files.writeString(target.resolve("file"), "precious");
        var e = assertThrows(IOException.class, this::restore);
        assertTrue(e.getMessage().contains("exists already"), e.getMessage());
        assertEquals("precious", Files.readString(target.resolve("file")));
        assertLeavesNothingBeside();
    }

    @Test
    void aRestoreThatWasStoppedGoesOnWhereItWas() throws Exception {
        writeLarge();
        RestoreStatus stopped = stopHalfway();
        assertTrue(stopped.bytesDone() < stopped.bytes(), stopped::toString);

        TreeRestore again = new TreeRestore(volume, "", target);
        again.run(Inode.ROOT);

        assertTrue(again.status().bytesResumed() > 0, again.status()::toString);
        assertEquals(again.status().bytes(), again.status().bytesDone());
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
        assertLeavesNothingBeside();
    }

    @Test
    void goingOnDoesNotWriteAgainWhatTheJournalSaysIsThere() throws Exception {
        // The control of the test above: if the restore had begun again, the file would be whole.
        writeLarge();
        stopHalfway();
        Files.write(target.resolve("large"), new byte[MIB], StandardOpenOption.WRITE);
        restore();
        assertFalse(Arrays.equals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large"))));
    }

    @Test
    void anAbandonedRestoreKeepsNoChunksAndRecordsNothingMore() throws Exception {
        writeLarge();
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        Libc hanging = with("pwrite", (arguments, real) -> {
            hangs.countDown();
            answers.await();
            return real.call();
        });
        TreeRestore restore = new TreeRestore(volume, "", target, 0, hanging);
        FutureTask<Void> running = new FutureTask<>(() -> {
            restore.run(Inode.ROOT);
            return null;
        });
        new Thread(running).start();
        hangs.await();
        Path journal = folder.resolve(".out.sdfs-restore/journal");
        String recorded = Files.readString(journal);
        restore.stop();
        assertTrue(volume.collector().pins().exist(), "control: a stopped one may make a milestone");
        restore.abandon();
        assertFalse(volume.collector().pins().exist());
        answers.countDown();
        var failed = assertThrows(ExecutionException.class, running::get);
        assertEquals(InterruptedIOException.class, failed.getCause().getClass(), failed::toString);
        assertEquals(recorded, Files.readString(journal));
        RestoreStatus status = restore();
        assertEquals(status.bytes(), status.bytesDone());
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
        assertFalse(volume.collector().pins().exist());
    }

    @Test
    void aRestoreOfAnotherTreeDoesNotGoOn() throws Exception {
        writeLarge();
        stopHalfway();
        make(Inode.ROOT, "another");
        var e = assertThrows(IOException.class, this::restore);
        assertTrue(e.getMessage().contains("was changed since its restore"), e.getMessage());
    }

    @Test
    void aRestoreOfWhatWasWrittenMeanwhileWritesAllBytesAgain() throws Exception {
        writeLarge();
        stopHalfway();
        long large = volume.lookup(Inode.ROOT, bytes("large")).inode();
        volume.change(large, new AttributeChange(null, null, null, 0L, null, null, null));
        volume.change(large, new AttributeChange(null, null, null, 30L * MIB, null, null, null));
        write(large, 0, bytes("other"));
        byte[] now = Arrays.copyOf(bytes("other"), 30 * MIB);

        RestoreStatus status = restore();

        assertEquals(0, status.bytesResumed());
        assertArrayEquals(now, Files.readAllBytes(target.resolve("large")));
        assertLeavesNothingBeside();
    }

    @Test
    void aRestoreOfWhatWasDefragmentedMeanwhileWritesAllBytesAgain() throws Exception {
        long mixed = writeFragmented();
        stopHalfway();
        Files.write(target.resolve("mixed"), random(MIB, 1), StandardOpenOption.WRITE);
        Defragmentation done =
                volume.maintenance().defragment(mixed, DiskModel.HDD, new Limits(1, false), Progress.NONE);
        assertTrue(done.rewrittenChunks() > 0, done::toString);
        assertEquals(0, restore().bytesResumed());
        assertArrayEquals(borrowing(), Files.readAllBytes(target.resolve("mixed")));
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
    }

    @Test
    void aRestoreGoesOnAfterItsFilesWereReadAndGotOtherTimesAndRights() throws Exception {
        writeLarge();
        stopHalfway();
        long large = volume.lookup(Inode.ROOT, bytes("large")).inode();
        volume.change(large, new AttributeChange(0600, null, null, null, 5_000_000_000L, 4_000_000_000L, null));

        RestoreStatus status = restore();

        assertTrue(status.bytesResumed() > 0, status::toString);
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
        assertEquals(0100600, Files.getAttribute(target.resolve("large"), "unix:mode"));
        assertEquals(4_000, Files.getLastModifiedTime(target.resolve("large")).toMillis());
    }

    @Test
    void aRestoreOfWhatIsFragmentedGoesOn() throws Exception {
        // The control of the test above.
        long mixed = writeFragmented();
        stopHalfway();
        Defragmentation dry = volume.maintenance().defragment(mixed, DiskModel.HDD, new Limits(1, true), Progress.NONE);
        assertTrue(dry.sparseContainers() > 0, dry::toString);
        RestoreStatus status = restore();
        assertEquals(status.bytes(), status.bytesDone());
        assertArrayEquals(borrowing(), Files.readAllBytes(target.resolve("mixed")));
    }

    /** A file that wants little of each container of another one. */
    private long writeFragmented() throws IOException {
        writeLarge();
        long mixed = make(Inode.ROOT, "mixed");
        write(mixed, 0, borrowing());
        volume.sync();
        return mixed;
    }

    private static byte[] borrowing() {
        byte[] large = random(LARGE_MIB * MIB, 6);
        byte[] mixed = random(LARGE_MIB * MIB / 2, 9);
        int piece = MIB / 8;
        for (int i = 0; i < LARGE_MIB; i++) {
            System.arraycopy(large, i * MIB, mixed, 4 * i * piece, piece);
        }
        return mixed;
    }

    @Test
    void aFileThatChangedAtTheDestinationEndsARestoreAndOneThatIsGoneIsMadeAgain() throws Exception {
        writeLarge();
        stopHalfway();
        Files.write(target.resolve("large"), new byte[1], StandardOpenOption.APPEND);
        var longer = assertThrows(IOException.class, this::restore);
        assertTrue(longer.getMessage().contains("was changed since it was restored"), longer.getMessage());
        Files.delete(target.resolve("large"));
        RestoreStatus made = restore();
        assertEquals(0, made.bytesResumed());
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
    }

    @Test
    void aLinkThatIsMissingAtTheDestinationIsMadeAgain() throws Exception {
        writeLarge();
        volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("nowhere"), new Owner(0, 0));
        stopHalfway();
        Files.delete(target.resolve("link"));
        assertEquals(0, restore().entriesLost());
        assertEquals("nowhere", Files.readSymbolicLink(target.resolve("link")).toString());
    }

    @Test
    void aRestoreOfSomethingElseDoesNotGoOn() throws Exception {
        writeLarge();
        stopHalfway();
        long large = volume.lookup(Inode.ROOT, bytes("large")).inode();
        var e = assertThrows(IOException.class, () -> new TreeRestore(volume, "large", target).run(large));
        assertTrue(e.getMessage().contains("from another file or volume"), e.getMessage());
    }

    @Test
    void aDamagedJournalIsNotTrusted() throws Exception {
        writeLarge();
        stopHalfway();
        Path journal = folder.resolve(".out.sdfs-restore/journal");
        Files.writeString(journal, Files.readString(journal).replace("nextContainer ", "nextContainer 9"));
        assertThrows(IOException.class, this::restore);
    }

    @Test
    void aRestoreThatWasStoppedWhileItWalkedDoesNotGoOnWithWhatItMade() throws Exception {
        write(make(Inode.ROOT, "file"), 0, bytes("new"));
        TreeRestore stopped = new TreeRestore(volume, "", target);
        stopped.stop();
        assertThrows(InterruptedIOException.class, () -> stopped.run(Inode.ROOT));
        Files.createDirectory(target);
        Path leftover = Files.writeString(target.resolve("leftover"), "of an older tree");
        var e = assertThrows(IOException.class, this::restore);
        assertTrue(e.getMessage().contains("to begin again, remove " + target), e.getMessage());
        // The control: it continues if nothing was made yet.
        Files.delete(leftover);
        restore();
        assertEquals("new", Files.readString(target.resolve("file")));
        assertLeavesNothingBeside();
    }

    @Test
    void aWorkFolderThatOthersMayWriteToIsNotTrusted() throws Exception {
        writeLarge();
        stopHalfway();
        Path work = folder.resolve(".out.sdfs-restore");
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertIsRefused(work);
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwx------"));
        Files.setPosixFilePermissions(work.resolve("scratch"), PosixFilePermissions.fromString("rwxrwx---"));
        assertIsRefused(work.resolve("scratch"));
        // The control: it was nothing else.
        Files.setPosixFilePermissions(work.resolve("scratch"), PosixFilePermissions.fromString("rwx------"));
        restore();
        assertArrayEquals(random(LARGE_MIB * MIB, 6), Files.readAllBytes(target.resolve("large")));
    }

    @Test
    void aWorkFolderOfSomebodyElseIsNotTrusted() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give the folder away");
        writeLarge();
        stopHalfway();
        Path work = folder.resolve(".out.sdfs-restore");
        Files.setAttribute(work, "unix:uid", 1234);
        assertIsRefused(work);
    }

    @Test
    void aWorkFolderThatIsALinkIsNotTrusted() throws Exception {
        writeLarge();
        stopHalfway();
        Path work = folder.resolve(".out.sdfs-restore");
        Path moved = Files.move(work, folder.resolve("moved"));
        Files.createSymbolicLink(work, moved);
        assertIsRefused(work);
        Files.delete(work);
        Files.move(moved, work);
        Files.move(work.resolve("journal"), folder.resolve("journal"));
        Files.createSymbolicLink(work.resolve("journal"), folder.resolve("journal"));
        var e = assertThrows(IOException.class, this::restore);
        assertTrue(e.getMessage().contains("is no file"), e.getMessage());
    }

    private void assertIsRefused(Path work) {
        var e = assertThrows(IOException.class, this::restore);
        assertTrue(e.getMessage().startsWith(work + " is not a folder that a restore"), e.getMessage());
    }

    @Test
    void damagedChunksAreNamedAndAllElseIsRestored() throws IOException {
        byte[] good = random(MIB, 7);
        write(make(Inode.ROOT, "good"), 0, good);
        volume.close();
        List<PackedContainer> before = containers();
        assertFalse(before.isEmpty());
        volume = Volume.open(config);
        write(make(Inode.ROOT, "bad"), 0, random(MIB, 8));
        volume.close();
        for (PackedContainer container : containers()) {
            if (!before.contains(container)) {
                container.flipBitInFrames();
            }
        }
        volume = Volume.open(config);

        RestoreStatus status = restore();

        assertTrue(status.damagedPlaces() > 0, status::toString);
        assertTrue(status.damages().get(0).startsWith(target.resolve("bad") + ": "), status::toString);
        assertTrue(status.damages().get(0).contains(" bytes at offset "), status::toString);
        assertArrayEquals(good, Files.readAllBytes(target.resolve("good")));
        assertEquals(MIB, Files.size(target.resolve("bad")));
    }

    private List<PackedContainer> containers() throws IOException {
        return PackedContainer.in(config.locations().data());
    }

    private void writeLarge() throws IOException {
        write(make(Inode.ROOT, "large"), 0, random(LARGE_MIB * MIB, 6));
        volume.sync();
    }

    /** A restore with a milestone before each container, which is stopped while it writes, before its second one. */
    private RestoreStatus stopHalfway() throws IOException {
        var running = new AtomicReference<TreeRestore>();
        Libc stopping = with("pwrite", (arguments, real) -> {
            if (running.get().status().bytesDone() > 0) {
                running.get().stop();
            }
            return real.call();
        });
        TreeRestore restore = new TreeRestore(volume, "", target, 0, stopping);
        running.set(restore);
        assertThrows(InterruptedIOException.class, () -> restore.run(Inode.ROOT));
        return restore.status();
    }

    private RestoreStatus restore() throws IOException {
        return restore(new Libc());
    }

    private RestoreStatus restore(Libc posix) throws IOException {
        TreeRestore restore = new TreeRestore(volume, "", target, RARELY, posix);
        restore.run(Inode.ROOT);
        return restore.status();
    }

    private void assertLeavesNothingBeside() {
        assertFalse(Files.exists(folder.resolve(".out.sdfs-restore")));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static byte[] random(int length, long seed) {
        byte[] data = new byte[length];
        new Random(seed).nextBytes(data);
        return data;
    }

    private long make(long directory, String name) throws IOException {
        return volume.makeNode(directory, bytes(name), 0100644, 0, new Owner(0, 0))
                .inode();
    }

    private void write(long inode, long offset, byte[] data) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(data));
        volume.close(file);
    }
}
