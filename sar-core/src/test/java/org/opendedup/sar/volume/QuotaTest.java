package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/** What users, groups and folders use is exact, and their limits are those of each write and each new file. */
class QuotaTest {
    private static final int KIB = 1 << 10;
    private static final int BLOCK = 4096;
    private static final int UID = 1000;
    private static final int GID = 100;
    private static final QuotaId USER = new QuotaId(Kind.USER, UID);
    private static final QuotaId GROUP = new QuotaId(Kind.GROUP, GID);

    private final SplittableRandom random = new SplittableRandom(1);
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.ofEpochSecond(1_700_000_000));
    private VolumeInMemory stores;
    private Volume volume;

    @BeforeEach
    void make() throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256), 1);
        open();
    }

    private void open() throws IOException {
        volume = stores.open();
        volume.context().metadata().quotas().useClock(now::get);
    }

    /** What is taken is what the inodes have, once everything is stored. */
    @AfterEach
    void close() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        for (Kind kind : List.of(Kind.USER, Kind.GROUP)) {
            assertEquals(
                    volume.context().capacity().takenBytes(),
                    volume.quotas().states().stream()
                            .filter(state -> state.id().kind() == kind)
                            .mapToLong(QuotaState::bytes)
                            .sum());
        }
        volume.close();
    }

    private void crash() throws IOException {
        VolumeInMemory left = stores.crash(1);
        VolumeInMemory.abandon(volume);
        stores = left;
        open();
    }

    private static UnaryOperator<QuotaLimits> bytes(long soft, long hard) {
        return before -> new QuotaLimits(soft, hard, before.softFiles(), before.hardFiles(), before.graceSeconds());
    }

    private static UnaryOperator<QuotaLimits> files(long soft, long hard) {
        return before -> new QuotaLimits(before.softBytes(), before.hardBytes(), soft, hard, before.graceSeconds());
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private long make(long folder, String name, int uid, int gid) throws IOException {
        long inode = volume.makeNode(folder, name(name), 0100644, 0, new Owner(uid, gid))
                .inode();
        volume.forget(inode, 1);
        return inode;
    }

    private long makeFolder(long folder, String name) throws IOException {
        long inode =
                volume.makeDirectory(folder, name(name), 0755, new Owner(0, 0)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private void write(long inode, long offset, int length, int caller) throws IOException {
        OpenFile file = volume.open(inode, true, caller);
        try {
            byte[] data = new byte[length];
            random.nextBytes(data);
            volume.write(file, offset, ByteBuffer.wrap(data));
        } finally {
            volume.close(file);
        }
    }

    private static void assertRefused(Reason reason, Executable call) {
        assertEquals(reason, assertThrows(PosixException.class, call).reason());
    }

    private QuotaState state(QuotaId id) throws IOException {
        return volume.context().metadata().quotas().state(id);
    }

    private void assertUses(QuotaId id, long bytes, long files) throws IOException {
        QuotaState state = state(id);
        assertEquals(bytes + " bytes, " + files + " files", state.bytes() + " bytes, " + state.files() + " files");
    }

    @Test
    void bytesEndAtTheHardLimitToTheByte() throws IOException {
        volume.quotas().set(USER, bytes(0, 1000 * KIB));
        long file = make(Inode.ROOT, "file", UID, GID);
        long other = make(Inode.ROOT, "other", UID + 1, GID);
        write(file, 0, 1000 * KIB - 1, UID);
        assertRefused(Reason.EDQUOT, () -> write(file, 1000 * KIB - 1, 2, UID));
        write(file, 1000 * KIB - 1, 1, UID);
        assertRefused(Reason.EDQUOT, () -> write(file, 5000 * KIB, 1, UID));
        // What replaces dirty or stored bytes takes nothing.
        write(file, 100, BLOCK, UID);
        volume.sync();
        write(file, 5, 100 * KIB, UID);
        // Whoever writes: the owner is charged. Root is exempt, and others have limits of their own.
        assertRefused(Reason.EDQUOT, () -> write(file, 5000 * KIB, 1, UID + 1));
        write(other, 0, 10 * KIB, UID);
        write(file, 2000 * KIB, 7, 0);
        assertUses(USER, 1000 * KIB + 7, 1);
        assertUses(GROUP, 1010 * KIB + 7, 2);
        // Room by a truncation, by a hole, and by a file that is gone.
        volume.change(file, AttributeChange.ofSize(900 * KIB));
        OpenFile opened = volume.open(file, true, UID);
        volume.zero(opened, 0, 100 * KIB, true);
        assertRefused(Reason.EDQUOT, () -> volume.allocate(opened, 1 << 20, 500 * KIB, false));
        volume.allocate(opened, 1 << 20, 50 * KIB, false);
        volume.unlink(Inode.ROOT, name("file"));
        assertUses(USER, 800 * KIB, 1);
        volume.close(opened);
        assertUses(USER, 0, 0);
    }

    @Test
    void filesEndAtTheHardLimit() throws IOException {
        volume.quotas().set(GROUP, files(0, 4));
        long folder = makeFolder(Inode.ROOT, "folder");
        long file = make(folder, "file", UID, GID);
        volume.makeSymbolicLink(folder, name("link"), name("file"), new Owner(UID, GID));
        volume.makeDirectory(folder, name("sub"), 0755, new Owner(UID, GID));
        volume.link(file, folder, name("second name"));
        volume.makeUnnamed(folder, 0600, new Owner(UID, GID));
        assertUses(GROUP, 0, 4);
        for (Executable call : List.<Executable>of(
                () -> make(folder, "more", UID, GID),
                () -> volume.makeUnnamed(folder, 0600, new Owner(UID, GID)),
                () -> volume.makeDirectory(folder, name("more"), 0755, new Owner(UID, GID)),
                () -> volume.renameLeavingWhiteout(
                        folder, name("file"), folder, name("moved"), RenameMode.REPLACE, new Owner(UID, GID)))) {
            assertRefused(Reason.EDQUOT, call);
        }
        assertRefused(Reason.ENOENT, () -> volume.lookup(folder, name("more")));
        make(folder, "of root", 0, GID);
        assertUses(GROUP, 0, 5);
        volume.unlink(folder, name("file"));
        assertUses(GROUP, 0, 5);
        volume.removeDirectory(folder, name("sub"));
        volume.unlink(folder, name("of root"));
        crash();
        // The crash lost changes that were not committed, and their counts with them; the limit was committed.
        assertEquals(4, state(GROUP).limits().hardFiles());
    }

    @Test
    void aSoftLimitIsAHardOneAfterItsGraceTime() throws IOException {
        volume.quotas().set(USER, bytes(100 * KIB, 200 * KIB));
        long file = make(Inode.ROOT, "file", UID, GID);
        write(file, 0, 150 * KIB, UID);
        long end = now.get().plus(Duration.ofDays(7)).toEpochMilli();
        assertEquals(end, state(USER).bytesGraceEndMs());
        assertEquals(new Quotas.Use(1, 1, 0), volume.statistics().quotas());
        volume.sync();
        crash();
        assertEquals(end, state(USER).bytesGraceEndMs());
        now.set(Instant.ofEpochMilli(end - 1));
        write(file, 150 * KIB, 1, UID);
        now.set(Instant.ofEpochMilli(end));
        assertEquals(new Quotas.Use(1, 1, 1), volume.statistics().quotas());
        assertRefused(Reason.EDQUOT, () -> write(file, 150 * KIB + 1, 1, UID));
        write(file, 0, 10 * KIB, UID);
        volume.quotas().set(USER, before -> new QuotaLimits(100 * KIB, 200 * KIB, 0, 0, 8 * 86_400));
        write(file, 150 * KIB + 1, 1, UID);
        assertRefused(Reason.EDQUOT, () -> write(file, 150 * KIB + 2, 50 * KIB, UID));
        volume.change(file, AttributeChange.ofSize(100 * KIB));
        assertEquals(0, state(USER).bytesGraceEndMs());
        assertEquals(new Quotas.Use(1, 0, 0), volume.statistics().quotas());
        write(file, 100 * KIB, 1, UID);
        assertEquals(
                now.get().plus(Duration.ofDays(8)).toEpochMilli(), state(USER).bytesGraceEndMs());
        // Lower limits than what is used begin the grace time as well.
        make(Inode.ROOT, "second", UID, GID + 1);
        volume.quotas().set(USER, files(1, 0));
        assertEquals(state(USER).bytesGraceEndMs(), state(USER).filesGraceEndMs());
        make(Inode.ROOT, "third", UID, GID + 1);
    }

    @Test
    void aChangeOfTheOwnerMovesWhatIsCharged() throws IOException {
        QuotaId otherGroup = new QuotaId(Kind.GROUP, GID + 1);
        volume.quotas().set(otherGroup, bytes(0, 50 * KIB));
        long file = make(Inode.ROOT, "file", UID, GID);
        write(file, 0, 30 * KIB, UID);
        volume.sync();
        write(file, 10 * KIB, 40 * KIB, UID);
        AttributeChange group = new AttributeChange(null, null, GID + 1, null, null, null, null);
        volume.change(file, group, false);
        write(file, 30 * KIB, 10 * KIB, UID);
        volume.change(file, new AttributeChange(null, UID + 1, null, null, null, null, null));
        volume.sync();
        assertUses(USER, 0, 0);
        assertUses(GROUP, 0, 0);
        assertUses(otherGroup, 50 * KIB, 1);
        assertUses(new QuotaId(Kind.USER, UID + 1), 50 * KIB, 1);
        long second = make(Inode.ROOT, "second", UID, GID);
        write(second, 0, 1, UID);
        assertRefused(Reason.EDQUOT, () -> volume.change(second, group, false));
        assertEquals(GID, volume.attributes(second).gid());
        volume.change(second, group, true);
        assertUses(otherGroup, 50 * KIB + 1, 2);
    }

    @Test
    void aFolderIsChargedWithAllBelowIt() throws IOException {
        long outside = makeFolder(Inode.ROOT, "outside");
        long folder = makeFolder(Inode.ROOT, "folder");
        long deep = makeFolder(makeFolder(folder, "a"), "b");
        long file = make(deep, "file", UID, GID);
        write(file, 0, 20 * KIB, UID);
        for (int i = 0; i < 300; i++) {
            make(folder, "file " + i, UID, GID);
        }
        QuotaState set = volume.quotas().setFolder(folder, bytes(0, 30 * KIB), (step, done, of) -> {});
        assertEquals(
                "1 at /folder", set.id().number() + " at " + volume.quotas().pathOf(set.folder()));
        assertUses(set.id(), 20 * KIB, 304);
        // What is made in it is charged; nothing moves between it and what is outside.
        write(make(deep, "more", UID, GID), 0, 10 * KIB, UID);
        assertRefused(Reason.EDQUOT, () -> write(file, 20 * KIB, 1, UID));
        long apart = make(outside, "apart", UID, GID);
        assertRefused(
                Reason.EXDEV, () -> volume.rename(outside, name("apart"), deep, name("apart"), RenameMode.REPLACE));
        assertRefused(Reason.EXDEV, () -> volume.rename(deep, name("more"), outside, name("more"), RenameMode.REPLACE));
        assertRefused(Reason.EXDEV, () -> volume.link(apart, deep, name("apart")));
        volume.rename(deep, name("more"), folder, name("more"), RenameMode.REPLACE);
        volume.rename(Inode.ROOT, name("folder"), Inode.ROOT, name("renamed"), RenameMode.REPLACE);
        assertEquals("/renamed", volume.quotas().pathOf(set.folder()));
        OpenFile source = volume.open(file, false, UID);
        OpenFile target = volume.open(make(deep, "copy", UID, GID), true, UID);
        assertRefused(Reason.EDQUOT, () -> volume.copy(source, 0, target, 0, 20 * KIB));
        volume.close(source);
        volume.close(target);
        // A disk of its own.
        volume.quotas().setFolder(folder, files(0, 400), (step, done, of) -> {});
        SpaceUse space = volume.space(deep);
        assertEquals(
                List.of(30L * KIB, 0L, 306L, 94L),
                List.of(space.capacityBytes(), space.availableBytes(), space.files(), space.freeFiles(BLOCK)));
        assertEquals(volume.space(), volume.space(outside));
        // A folder within it counts for itself.
        QuotaState inner = volume.quotas().setFolder(deep, bytes(0, 0), (step, done, of) -> {});
        assertUses(inner.id(), 20 * KIB, 3);
        assertUses(set.id(), 10 * KIB, 303);
        volume.quotas().setFolder(folder, bytes(0, 0), (step, done, of) -> {});
        assertUses(inner.id(), 20 * KIB, 3);
        volume.sync();
        crash();
        assertUses(set.id(), 10 * KIB, 303);
        assertFalse(volume.quotas().states().isEmpty());
    }

    /** So are the files of a replica, and of a volume that lost the record of a project. */
    @Test
    void aFolderTakesTheNumberOfAProjectThatHasNoFolder() throws IOException {
        long folder = makeFolder(Inode.ROOT, "folder");
        long deep = makeFolder(folder, "a");
        long file = make(deep, "file", UID, GID);
        write(file, 0, 20 * KIB, UID);
        for (long inode : List.of(folder, deep, file)) {
            volume.quotas().setProject(inode, 1);
        }
        QuotaState set = volume.quotas().setFolder(folder, bytes(0, 30 * KIB), (step, done, of) -> {});
        assertUses(set.id(), 20 * KIB, 3);
        volume.rename(deep, name("file"), folder, name("file"), RenameMode.REPLACE);
        assertRefused(Reason.EDQUOT, () -> write(file, 20 * KIB, 11 * KIB, UID));
    }

    @Test
    void aFolderIsChargedWhileProgramsUseIt() throws Exception {
        long folder = makeFolder(Inode.ROOT, "folder");
        List<Long> folders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            folders.add(makeFolder(i % 3 == 0 || folders.isEmpty() ? folder : folders.get(i / 2), "sub " + i));
        }
        SplittableRandom seeds = new SplittableRandom(TestSeed.next());
        List<FutureTask<Integer>> running = new ArrayList<>();
        for (int thread = 0; thread < 2; thread++) {
            SplittableRandom own = seeds.split();
            String prefix = "file " + thread + " ";
            running.add(new FutureTask<>(() -> {
                for (int i = 0; i < 300; i++) {
                    long file = make(folders.get(own.nextInt(folders.size())), prefix + i, UID, GID);
                    write(file, 0, 1 + own.nextInt(100), UID);
                }
                return 300;
            }));
            new Thread(running.get(thread)).start();
        }
        QuotaId project = volume.quotas()
                .setFolder(folder, UnaryOperator.identity(), (step, done, of) -> {})
                .id();
        int made = 0;
        for (FutureTask<Integer> one : running) {
            made += one.get();
        }
        assertEquals(1 + 40 + made, state(project).files());
        assertEquals(state(USER).bytes(), state(project).bytes());
    }

    @Test
    void manyWritersStayWithinTheHardLimit() throws Exception {
        volume.quotas().set(USER, bytes(0, 500 * KIB));
        volume.quotas().set(GROUP, files(0, 50));
        SplittableRandom seeds = new SplittableRandom(TestSeed.next());
        List<FutureTask<Integer>> running = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
            SplittableRandom own = seeds.split();
            String prefix = "file " + thread + " ";
            running.add(new FutureTask<>(() -> {
                int refused = 0;
                for (int i = 0; i < 40; i++) {
                    try {
                        long file = make(Inode.ROOT, prefix + i, UID, GID);
                        write(file, 0, 1 + own.nextInt(40 * KIB), UID);
                    } catch (PosixException e) {
                        assertEquals(Reason.EDQUOT, e.reason());
                        refused++;
                    }
                    QuotaState user = state(USER);
                    assertTrue(user.bytes() <= 500 * KIB, user::toString);
                    QuotaState group = state(GROUP);
                    assertTrue(group.files() <= 50, group::toString);
                }
                return refused;
            }));
            new Thread(running.get(thread)).start();
        }
        int refused = 0;
        for (FutureTask<Integer> one : running) {
            refused += one.get();
        }
        assertTrue(refused >= 3 * 40 - 50, "refused " + refused);
        assertEquals(50, state(GROUP).files());
    }

    @Test
    void theProjectOfAFileCanBeSetAlone() throws IOException {
        QuotaId project = new QuotaId(Kind.PROJECT, 7);
        assertThrows(IOException.class, () -> volume.quotas().set(project, bytes(0, 10 * KIB)));
        long folder = makeFolder(Inode.ROOT, "folder");
        long file = make(folder, "file", UID, GID);
        write(file, 0, 9 * KIB, UID);
        volume.quotas().setProject(file, 7);
        assertEquals(
                List.of(7, 0),
                List.of(volume.quotas().project(file), volume.quotas().project(folder)));
        volume.quotas().set(project, bytes(0, 10 * KIB));
        assertRefused(Reason.EDQUOT, () -> write(file, 9 * KIB, 2 * KIB, UID));
        volume.quotas().setProject(folder, 7);
        assertRefused(Reason.EDQUOT, () -> write(make(folder, "second", UID, GID), 0, 2 * KIB, UID));
        assertUses(project, 9 * KIB, 3);
        volume.quotas().setProject(file, 0);
        assertUses(project, 0, 2);
    }

    @Test
    void limitsThatContradictAreRefusedAndChangeNothing() throws IOException {
        volume.quotas().set(USER, bytes(10, 20));
        assertThrows(IllegalArgumentException.class, () -> volume.quotas().set(USER, bytes(21, 20)));
        assertEquals(
                new QuotaLimits(10, 20, 0, 0, QuotaLimits.DEFAULT_GRACE_SECONDS),
                state(USER).limits());
        long file = make(Inode.ROOT, "file", 0, 0);
        assertRefused(Reason.ENOTDIR, () -> volume.quotas().setFolder(file, bytes(1, 1), (step, done, of) -> {}));
        long folder = makeFolder(Inode.ROOT, "folder");
        assertThrows(
                IllegalArgumentException.class,
                () -> volume.quotas().setFolder(folder, bytes(2, 1), (step, done, of) -> {}));
        // A project ends with its folder.
        QuotaId project = volume.quotas()
                .setFolder(folder, bytes(1, 1), (step, done, of) -> {})
                .id();
        volume.removeDirectory(Inode.ROOT, name("folder"));
        volume.sync();
        assertEquals(new QuotaState(project, 0, 0, QuotaLimits.NONE, 0, 0, 0), state(project));
    }
}
