package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.ssd.SsdFixture.offer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.HookedDirectory;

/**
 * Power cuts before and in each change of the log's files, while chunks are promoted and demoted and segments are
 * cleaned. The Map table found afterwards is the one of that moment, or one of an earlier moment. Whatever is read from
 * the SSD then has the right bytes.
 */
class SsdPowerCutTest {
    private static final int ROUNDS = 30;
    private static final int OFFERS = 150;
    private static final int CHUNKS = 4000;
    private static final long CAPACITY = 12 << 20;
    /** An earlier Map table is replaced by the present one after so many cuts. */
    private static final int CUTS_PER_MAP = 3;
    /** Changes for each cut: each one in a run that explores. */
    private static final int CHANGES_PER_CUT = TestSeed.rounds(1) > 1 ? 1 : 4;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final CrashDirectory disk = new CrashDirectory(seed);

    private @Nullable VolumeKeys keys;
    private int changes;
    private int cuts;
    private int copiesRead;
    private int wrongCopies;
    private long badRecords;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void afterAPowerCutAtAnyChangeNoCopyHasWrongBytes(boolean isSealed) throws IOException {
        keys = isSealed ? SsdFixture.KEYS : null;
        cutPowerDuringWork(disk -> StoreDouble.onDisk(disk, keys));

        assertEquals(0, wrongCopies, () -> wrongCopies + " of " + copiesRead + " copies in " + cuts + " cuts");
        assertTrue(copiesRead > 0, "nothing was read from the SSD");
        assertTrue(badRecords > 0, "no cut damaged a record that the Map table leads to");
    }

    /** The control: the same cuts, and records that are not checked. */
    @Test
    void withoutChecksOfTheRecordsTheSameCutsGiveWrongBytes() throws IOException {
        cutPowerDuringWork(StoreDouble::blindOnDisk);

        assertTrue(wrongCopies > 0, () -> "all of " + copiesRead + " copies in " + cuts + " cuts are right");
    }

    /** Makes the store that is opened after a power cut. */
    private interface Reopening {
        StoreDouble on(UnaryOperator<Directory> disk);
    }

    private void cutPowerDuringWork(Reopening reopening) throws IOException {
        SsdFixture fixture = new SsdFixture(Files.createDirectory(folder.resolve("ssd")));
        fixture.capacity = CAPACITY;
        fixture.keys = keys;
        HookedDirectory hooked = new HookedDirectory(disk);
        Random random = new Random(seed);
        try (SsdStore store = fixture.open(hooked)) {
            fixture.makeRoom = () -> demoteSome(store, new Random(seed));
            hooked.hook = (call, name) -> {
                if (changes++ % CHANGES_PER_CUT == 0) {
                    cut(fixture, reopening);
                }
            };
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < OFFERS; i++) {
                    offer(store, 1 + random.nextInt(CHUNKS));
                    if (i % 10 == 0) {
                        store.demote(1 + random.nextInt(CHUNKS));
                    }
                }
                store.drain();
            }
            assertTrue(store.statistics().cleanedSegments() > 0, "no segment was cleaned");
            hooked.pass();
        }
        cut(fixture, reopening);
    }

    private static void demoteSome(SsdStore store, Random random) {
        while (store.liveBytes() > store.liveLimitBytes() * 9 / 10) {
            store.table().forEach(entry -> {
                if (random.nextInt(10) == 0) {
                    store.demote(entry.chunkId);
                }
            });
        }
    }

    /** Called by the writing thread before a change. */
    private void cut(SsdFixture fixture, Reopening reopening) throws IOException {
        Path map = folder.resolve("map");
        if (cuts % CUTS_PER_MAP == 0) {
            TestFolders.delete(map);
            TestFolders.copy(fixture.location.resolve(LocationFiles.MAP), map);
        }
        cuts++;
        Path found = Files.createDirectory(folder.resolve("found"));
        try {
            TestFolders.copy(map, found.resolve(LocationFiles.MAP));
            SsdIdentity.claim(found, SsdFixture.VOLUME);
            CrashDirectory left = disk.crash(cuts);
            try (SsdStore store = reopening
                    .on(files -> left)
                    .open(
                            found,
                            SsdFixture.TIMELINE,
                            CAPACITY,
                            new StoreMemory(1_000_000, 0),
                            () -> {},
                            failure -> {})) {
                readAll(store);
            }
        } finally {
            TestFolders.delete(found);
        }
    }

    private void readAll(SsdStore store) {
        long[] ids = SsdFixture.entries(store).keySet().stream()
                .mapToLong(Long::longValue)
                .toArray();
        ChunkRequest request = SsdFixture.request(ids);
        store.read(request);
        for (int i = 0; i < request.count(); i++) {
            byte[] bytes = SsdFixture.found(request, i);
            if (bytes != null) {
                copiesRead++;
                wrongCopies += Arrays.equals(SsdFixture.chunk(request.chunkId(i)), bytes) ? 0 : 1;
            }
        }
        badRecords += store.statistics().badRecords();
    }
}
