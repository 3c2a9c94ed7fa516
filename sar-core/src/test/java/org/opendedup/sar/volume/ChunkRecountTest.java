package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.Commits;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ClientRecount;
import org.opendedup.sar.volume.chunks.ClientReferences;
import org.opendedup.sar.volume.chunks.RecentlyUnreferenced;

/**
 * Plays a client whose maps survive a kill while the last counts do not, that loses calls and repeats others: what its
 * maps name is never collected, and what they do not name is not kept for ever. The control lets the counts decide.
 */
@Timeout(300)
class ChunkRecountTest {
    private static final int TRIALS = 25;
    private static final int STEPS = 150;
    private static final int CONTENTS = 40;
    private static final int FILES = 6;
    private static final int PAGES = 4;

    private final long seed = TestSeed.next();

    @Test
    void whatTheMapsNameStaysAndNothingElseDoes() throws IOException {
        for (int trial = 0; trial < TRIALS; trial++) {
            assertNull(new Client(seed + trial, true).failure(true), "trial " + trial + " of seed " + seed);
        }
    }

    @Test
    void countsThatDecideLoseFiles() throws IOException {
        assertControlFinds("is gone", true);
    }

    @Test
    void countsThatDecideKeepGarbageForEver() throws IOException {
        assertControlFinds("is kept", false);
    }

    private void assertControlFinds(String what, boolean looksForLoss) throws IOException {
        for (int trial = 0; trial < TRIALS; trial++) {
            String failure = new Client(seed + trial, false).failure(looksForLoss);
            if (failure != null && failure.contains(what)) {
                return;
            }
        }
        fail("the control must find what " + what);
    }

    /** An entry of a map. */
    private record Entry(int content, long location) {}

    /** The client: files of pages, whose maps are written after the calls. */
    private static final class Client implements ClientReferences {
        private final SplittableRandom random;
        private final long trialSeed;
        private final List<List<List<Entry>>> files = new ArrayList<>();
        private final Set<Long> synced = new HashSet<>();
        private final Set<Long> unsynced = new HashSet<>();
        private ChunkTrial trial;
        private ChunkVolume volume;
        private int kills;
        /** Whether nothing changes any more. */
        private boolean isQuiet;

        Client(long trialSeed, boolean mapsDecide) throws IOException {
            this.trialSeed = trialSeed;
            random = new SplittableRandom(trialSeed);
            trial = ChunkTrial.create(new CrashDirectory(trialSeed));
            trial.client = mapsDecide ? this : null;
            volume = trial.open();
            for (int file = 0; file < FILES; file++) {
                files.add(new ArrayList<>());
            }
            // A file that stays: maps that name nothing are not believed.
            byte[] chunk = ChunkTrial.chunk(CONTENTS);
            long location = volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, 1)
                    .location();
            volume.sync();
            files.add(List.of(List.of(new Entry(CONTENTS, location))));
        }

        /** Returns what is wrong, or null. */
        @Nullable
        String failure(boolean looksForLoss) throws IOException {
            String failure = null;
            try {
                for (int step = 0; step < STEPS && failure == null; step++) {
                    String lost = step();
                    failure = looksForLoss ? lost : null;
                }
                isQuiet = true;
                for (int round = 0; round < 3 && failure == null; round++) {
                    trial.passGrace();
                    volume.sync();
                    collect();
                    failure = looksForLoss ? lost() : null;
                }
                return failure == null ? kept() : failure;
            } finally {
                volume.close();
            }
        }

        private @Nullable String step() throws IOException {
            int choice = random.nextInt(100);
            if (choice < 8) {
                volume.sync();
                synced.addAll(unsynced);
                unsynced.clear();
            } else if (choice < 12) {
                return kill();
            } else if (choice < 22) {
                if (random.nextBoolean()) {
                    trial.passGrace();
                }
                collect();
                return lost();
            } else {
                change();
            }
            return null;
        }

        private void change() throws IOException {
            List<List<Entry>> file = files.get(random.nextInt(FILES));
            int choice = random.nextInt(20);
            if (choice < 13) {
                write(file);
            } else if (choice < 16) {
                for (List<Entry> page : file) {
                    take(page);
                }
                file.clear();
            } else if (choice < 18) {
                // SDFS takes references of the beginning, which stays, and none of what is cut off.
                int pages = random.nextInt(file.size() + 1);
                for (List<Entry> page : file.subList(0, pages)) {
                    take(page);
                }
                file.subList(pages, file.size()).clear();
            } else {
                List<List<Entry>> copy = files.get(random.nextInt(FILES));
                if (copy != file) {
                    copy.clear(); // The references of the file that is replaced are never taken away.
                    file.forEach(page -> copy.add(new ArrayList<>(page)));
                    for (List<Entry> page : copy) {
                        claim(page, 1);
                    }
                }
            }
        }

        private void write(List<List<Entry>> file) throws IOException {
            int at = random.nextInt(Math.min(PAGES, file.size() + 1));
            List<Entry> written = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                int content = random.nextInt(CONTENTS);
                byte[] chunk = ChunkTrial.chunk(content);
                int references = random.nextInt(8) == 0 ? 0 : 1;
                long location = volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, references, 1)
                        .location();
                unsynced.add(location);
                written.add(new Entry(content, location));
            }
            if (at < file.size()) {
                take(file.get(at));
                file.set(at, written);
            } else {
                file.add(written);
            }
        }

        private void take(List<Entry> page) throws IOException {
            claim(page, -1);
        }

        /** Some calls are lost, and some are made twice. */
        private void claim(List<Entry> page, int delta) throws IOException {
            for (Entry entry : page) {
                for (int calls = Math.max(0, random.nextInt(10) - 7) + (random.nextInt(8) == 0 ? 0 : 1);
                        calls > 0;
                        calls--) {
                    volume.claim(ChunkTrial.fingerprint(ChunkTrial.chunk(entry.content)), entry.location, delta);
                }
            }
        }

        private @Nullable String kill() throws IOException {
            ChunkTrial left = trial.crash(trialSeed + kills++);
            abandon();
            trial = left;
            volume = trial.open();
            String failure = null;
            for (List<List<Entry>> file : files) {
                for (List<Entry> page : file) {
                    for (Entry entry : List.copyOf(page)) {
                        if (!isThere(entry)) {
                            failure = synced.contains(entry.location) ? entry + ", synced, is gone" : failure;
                            page.remove(entry);
                        }
                    }
                }
            }
            unsynced.clear();
            return failure;
        }

        private void abandon() {
            trial.hooks.hook = call -> {
                throw new IOException("killed");
            };
            try {
                volume.close();
            } catch (IOException e) {
                // Expected, because its stores are gone.
            }
        }

        private void collect() throws IOException {
            volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        }

        /** Goes on changing while the maps are read; visits again what changed. */
        @Override
        public void visit(Visitor visitor) throws IOException {
            for (int file = 0; file < FILES; file++) {
                if (!isQuiet && random.nextInt(4) == 0) {
                    change();
                }
                if (!isQuiet && random.nextInt(8) == 0) {
                    trial.passGrace();
                }
                visit(files.get(file), visitor);
            }
            for (List<List<Entry>> file : files) {
                visit(file, visitor);
            }
            if (!isQuiet) {
                change();
            }
        }

        private static void visit(List<List<Entry>> file, Visitor visitor) throws IOException {
            for (List<Entry> page : file) {
                for (Entry entry : page) {
                    byte[] chunk = ChunkTrial.chunk(entry.content);
                    visitor.reference(ChunkTrial.fingerprint(chunk), entry.location, chunk.length);
                }
            }
        }

        private boolean isThere(Entry entry) throws IOException {
            byte[] chunk = ChunkTrial.chunk(entry.content);
            return Arrays.equals(chunk, volume.get(ChunkTrial.fingerprint(chunk), entry.location));
        }

        private @Nullable String lost() throws IOException {
            for (List<List<Entry>> file : files) {
                for (List<Entry> page : file) {
                    for (Entry entry : page) {
                        if (!isThere(entry)) {
                            return entry + " is gone";
                        }
                    }
                }
            }
            return null;
        }

        private @Nullable String kept() throws IOException {
            Set<Integer> named = new HashSet<>();
            files.forEach(file -> file.forEach(page -> page.forEach(entry -> named.add(entry.content))));
            for (int content = 0; content < CONTENTS; content++) {
                byte[] fingerprint = ChunkTrial.fingerprint(ChunkTrial.chunk(content));
                if (!named.contains(content) && volume.find(fingerprint) != ChunkVolume.NOT_FOUND) {
                    return "content " + content + " is kept";
                }
            }
            return null;
        }
    }

    private static final int CHUNKS = 200;

    private static void put(ChunkVolume volume, List<Entry> entries, int chunks) throws IOException {
        for (int content = 0; content < chunks; content++) {
            byte[] chunk = ChunkTrial.chunk(content);
            entries.add(new Entry(
                    content,
                    volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, 1)
                            .location()));
        }
        volume.sync();
    }

    private static ChunkTrial trial(ClientReferences client) throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(1));
        trial.client = client;
        return trial;
    }

    private static ClientReferences of(List<Entry> entries) {
        return visitor -> Client.visit(List.of(entries), visitor);
    }

    private static void collect(ChunkVolume volume) throws IOException {
        volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    @Test
    void nothingIsCollectedWhileMapsCannotBeRead() throws IOException {
        List<Entry> entries = new ArrayList<>();
        ChunkTrial trial = trial(visitor -> {
            throw new IOException("map 7 cannot be read");
        });
        try (ChunkVolume volume = trial.open()) {
            put(volume, entries, CHUNKS);
            for (Entry entry : entries) {
                volume.claim(ChunkTrial.fingerprint(ChunkTrial.chunk(entry.content)), entry.location, -1);
            }
            trial.passGrace();
            IOException refused = assertThrows(IOException.class, () -> collect(volume));
            assertTrue(String.valueOf(refused.getMessage()).contains("map 7"), refused::toString);
            assertEquals(CHUNKS, volume.statistics().chunks());
        }
    }

    /** As in a damaged map: a reader finds the chunk by its fingerprint. */
    @Test
    void whatAMapNamesWithAWrongLocationStays() throws IOException {
        List<Entry> entries = new ArrayList<>();
        List<Entry> put = new ArrayList<>();
        ChunkTrial trial = trial(of(entries));
        try (ChunkVolume volume = trial.open()) {
            put(volume, put, CHUNKS);
            byte[] chunk = ChunkTrial.chunk(0);
            int other = 1;
            while (ChunkTrial.chunk(other).length == chunk.length) {
                other++;
            }
            entries.add(new Entry(0, put.get(other).location));
            for (int round = 0; round < 3; round++) {
                assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), put.get(other).location));
                trial.passGrace();
                collect(volume);
            }
            // The control: what no map names is gone. The chunk at the wrong location stays, too.
            assertEquals(2, volume.statistics().chunks());
        }
    }

    @Test
    void mapsWithoutAnyReferenceAreNotBelieved() throws IOException {
        List<Entry> entries = new ArrayList<>();
        ChunkTrial trial = trial(of(entries));
        try (ChunkVolume volume = trial.open()) {
            List<Entry> put = new ArrayList<>();
            put(volume, put, CHUNKS);
            trial.passGrace();
            IOException refused = assertThrows(IOException.class, () -> collect(volume));
            assertTrue(String.valueOf(refused.getMessage()).contains("not mounted"), refused::toString);
            entries.add(put.get(0));
            for (int round = 0; round < 2; round++) {
                collect(volume);
                trial.passGrace();
            }
            assertEquals(1, volume.statistics().chunks());
        }
    }

    @Test
    void aMapThatIsWrittenAfterItWasReadKeepsItsChunks() throws IOException {
        List<Entry> late = new ArrayList<>();
        List<Entry> early = new ArrayList<>();
        ChunkTrial trial = trial(of(early));
        try (ChunkVolume volume = trial.open()) {
            put(volume, late, CHUNKS);
            early.add(late.get(0));
            trial.passGrace();
            collect(volume);
            assertEquals(0, volume.references(late.get(1).location), "no map names it yet");
            early.addAll(late);
            trial.passGrace();
            collect(volume);
            for (Entry entry : late) {
                byte[] chunk = ChunkTrial.chunk(entry.content);
                assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), entry.location));
                assertEquals(1, volume.references(entry.location));
            }
        }
    }

    @Test
    void collectionsWithinTheGracePeriodAskTheMapsOnce() throws IOException {
        List<Entry> entries = new ArrayList<>();
        int[] visits = {0};
        ChunkTrial trial = trial(visitor -> {
            visits[0]++;
            of(entries).visit(visitor);
        });
        try (ChunkVolume volume = trial.open()) {
            put(volume, entries, CHUNKS);
            trial.passGrace();
            collect(volume);
            collect(volume);
            assertEquals(1, visits[0]);
            trial.passGrace();
            collect(volume);
            assertEquals(2, visits[0]);
        }
    }

    @Test
    void withLittleMemoryTheMapsAreReadOnceForEachContainer() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(1));
        try (ChunkVolume volume = trial.open()) {
            List<Entry> entries = new ArrayList<>();
            Set<Long> containers = new HashSet<>();
            for (int content = 0; content < CHUNKS; content++) {
                byte[] chunk = ChunkTrial.chunk(content);
                int stream = content % 5;
                long location = volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, content % 3, stream)
                        .location();
                entries.add(new Entry(content, location));
                containers.add(ChunkId.container(location));
            }
            assertEquals(5, containers.size());
            List<Entry> named = entries.subList(0, CHUNKS / 2);
            int[] visits = {0};
            ClientReferences client = visitor -> {
                visits[0]++;
                of(named).visit(visitor);
            };
            Commits commits = new Commits() {
                @Override
                public Lock changes() {
                    return volume.engine().changes();
                }

                @Override
                public void commit() throws IOException {
                    volume.sync();
                }
            };
            new ClientRecount(
                            new RecentlyUnreferenced(0, System::nanoTime, CHUNKS, true),
                            client,
                            volume.engine().metadata(),
                            commits,
                            new ClientRecount.Copies(copy -> false, fingerprint -> ChunkId.NONE, () -> false),
                            1)
                    .begin(() -> true);
            assertTrue(visits[0] >= containers.size(), visits[0] + " visits");
            for (Entry entry : entries) {
                int expected = entry.content < named.size() ? Math.max(1, entry.content % 3) : 0;
                assertEquals(expected, volume.references(entry.location), entry::toString);
            }
        }
    }
}
