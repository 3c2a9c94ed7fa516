package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Makes, writes, gives away and removes files of several users below a folder that gets a quota meanwhile. Cuts the
 * power before and in each change that the volume makes to its stores: what users, groups and the folder use must be
 * what the inodes have that are found then, and limits that were set must be there.
 */
class QuotaCrashTest extends CrashRun<Volume> {
    private static final VolumeConfig CONFIG =
            VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private static final long LIMIT = 1 << 30;

    /** Number of the limits that were set durably. */
    private int set;

    private static Volume open(CutStores stores, KeyValueStore metadata) throws IOException {
        VolumeStores opened = new VolumeStores(stores.data(), metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(CONFIG, opened, Verification.FINGERPRINTS);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        CutStores made = new CutStores(new CrashDirectory(seed), new CrashKeyValueStore());
        Volume.create(CONFIG, made.data, made.metadata, InstantSource.system());
        set = 0;
        return made;
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        return open(stores, stores.metadata());
    }

    private static QuotaLimits limited(QuotaLimits before) {
        return new QuotaLimits(0, LIMIT, 0, 0, before.graceSeconds());
    }

    @Override
    void run(Volume volume) throws IOException {
        Random random = new Random(seed);
        long folder = volume.makeDirectory(Inode.ROOT, "folder".getBytes(UTF_8), 0755, new Owner(0, 0))
                .inode();
        List<Long> files = new ArrayList<>();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 5; i++) {
                files.add(write(volume, folder, files.size(), random));
            }
            if (round == 1) {
                volume.quotas().setFolder(folder, QuotaCrashTest::limited, (step, done, of) -> {});
                set++;
                volume.quotas().set(new QuotaId(Kind.USER, 2), QuotaCrashTest::limited);
                set++;
            }
            volume.change(files.get(5 * round), new AttributeChange(null, 7, 8, null, null, null, null));
            volume.change(files.get(5 * round + 1), AttributeChange.ofSize(3_000));
            volume.unlink(folder, name(5 * round + 3));
            volume.forget(files.get(5 * round + 3), 1);
            volume.sync();
        }
    }

    private static byte[] name(int number) {
        return ("file " + number).getBytes(UTF_8);
    }

    private static long write(Volume volume, long folder, int number, Random random) throws IOException {
        Owner owner = new Owner(1 + number % 3, 1 + number % 2);
        long inode = volume.makeNode(folder, name(number), 0100644, 0, owner).inode();
        OpenFile file = volume.open(inode, true, owner.uid());
        byte[] data = new byte[1 + random.nextInt(100_000)];
        random.nextBytes(data);
        volume.write(file, random.nextInt(5) * 4096L, ByteBuffer.wrap(data));
        if (number % 4 == 0) {
            volume.sync(file);
        }
        volume.close(file);
        return inode;
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (Volume found = open(left)) {
            List<String> problems = new ArrayList<>(VolumeChecker.check(found));
            found.sync();
            problems.addAll(VolumeChecker.check(found));
            long users = 0;
            for (QuotaState state : found.quotas().states()) {
                users += state.id().kind() == Kind.USER ? state.bytes() : 0;
            }
            if (users != found.context().capacity().takenBytes()) {
                problems.add("users take " + users + " bytes, and the files "
                        + found.context().capacity().takenBytes());
            }
            long limits = found.quotas().states().stream()
                    .filter(state -> state.limits().hardBytes() == LIMIT)
                    .count();
            if (limits < set) {
                problems.add(limits + " of " + set + " limits are there");
            }
            return problems;
        }
    }

    @Test
    void aCrashAtAnyChangeLeavesWhatIsUsedExact() throws IOException {
        assertNoCutLoses(20);
    }

    /** A commit that is not durable loses limits that were set. */
    @Test
    void controlALimitThatIsNotDurableIsNoticed() throws IOException {
        assertIsNoticed(Promise.COMMIT_IS_NOT_DURABLE);
    }

    /** A store that loses one change of what a user, a group or a project uses. */
    @Test
    void controlAChangeThatIsLostIsNoticed() throws IOException {
        for (Kind kind : Kind.values()) {
            byte[] lost = new QuotaId(kind, 1).key();
            int[] puts = new int[1];
            CutStores stores = stores(seed);
            Volume volume = open(stores, new HookedKeyValueStore<>(stores.metadata()) {
                @Override
                protected void put(Batch batch, Family family, byte[] key, byte[] value) throws IOException {
                    // The first one of a project has the limits, too.
                    if (!Arrays.equals(key, lost) || ++puts[0] <= 2) {
                        super.put(batch, family, key, value);
                    }
                }
            });
            run(volume);
            CutStores left = stores.crash(seed);
            abandon(volume);
            List<String> problems = problemsOf(left);
            assertTrue(
                    problems.stream().anyMatch(problem -> problem.contains("inodes for " + kind.text() + " 1 ")),
                    () -> kind + ", " + puts[0] + " puts: " + problems);
        }
        assertEquals(List.of(), problemsOf(cut(stores(seed), CutStores.NEVER, false, seed)));
    }
}
