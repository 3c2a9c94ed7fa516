package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.CorruptionException;

/** What every {@link ObjectStore} must do. A test class of each store extends it. */
public abstract class ObjectStoreContract {
    protected static final int RACERS = 4;

    private ObjectStore store;

    /** Opens a store without objects. */
    protected abstract ObjectStore newStore() throws IOException;

    /** Number of names of the test of lists. */
    protected int manyNames() {
        return 10_000;
    }

    protected final ObjectStore store() {
        return store;
    }

    @BeforeEach
    void open() throws IOException {
        store = newStore();
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    /** Bytes that follow from a seed. */
    public static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private byte[] read(String name, long offset, int length) throws IOException {
        byte[] read = new byte[length];
        store.read(name, offset, ByteBuffer.wrap(read));
        return read;
    }

    @Test
    void anObjectIsReadInRanges() throws IOException {
        byte[] bytes = bytes(100_000, 1);
        ObjectSource source = ObjectSource.of(bytes);
        store.put("a/object", source);
        assertEquals(new ObjectStatus(bytes.length, source.crc32c(), source.token()), store.status("a/object"));
        assertArrayEquals(bytes, store.readWhole("a/object", bytes.length));
        for (int[] range : new int[][] {{0, 1}, {99_999, 1}, {0, 100_000}, {65_535, 2}, {1, 99_999}}) {
            byte[] expected = java.util.Arrays.copyOfRange(bytes, range[0], range[0] + range[1]);
            assertArrayEquals(expected, read("a/object", range[0], range[1]));
        }
        // Into the middle of a buffer that is not an array.
        ByteBuffer direct = ByteBuffer.allocateDirect(10).position(3).limit(7);
        store.read("a/object", 500, direct);
        assertEquals(7, direct.position());
        assertEquals(ByteBuffer.wrap(bytes, 500, 4), direct.position(3));
        assertThrows(EOFException.class, () -> read("a/object", 99_999, 2));
        assertThrows(EOFException.class, () -> read("a/object", 100_000, 1));
        assertThrows(CorruptionException.class, () -> store.readWhole("a/object", bytes.length - 1));
    }

    @Test
    void anObjectMayBeEmpty() throws IOException {
        store.put("empty", ObjectSource.of(new byte[0]));
        assertEquals(0, store.status("empty").length());
        assertArrayEquals(new byte[0], store.readWhole("empty", 0));
        assertThrows(EOFException.class, () -> read("empty", 0, 1));
        assertEquals(
                List.of(new ObjectPage.Entry("empty", 0)),
                store.list("", "", 10).objects());
    }

    @Test
    void whatIsMissingIsSaid() throws IOException {
        assertThrows(NoSuchFileException.class, () -> store.status("none"));
        assertThrows(NoSuchFileException.class, () -> read("none", 0, 1));
        store.put("here", ObjectSource.of(new byte[] {1}));
        store.delete(List.of("none", "here", "neither"));
        assertThrows(NoSuchFileException.class, () -> store.status("here"));
        store.delete(List.of());
    }

    @Test
    void aNameIsPutOnce() throws IOException {
        ObjectSource first = ObjectSource.of(bytes(1000, 1));
        store.put("name", first);
        assertThrows(FileAlreadyExistsException.class, () -> store.put("name", ObjectSource.of(bytes(2000, 2))));
        assertEquals(first.token(), store.status("name").token());
        assertArrayEquals(bytes(1000, 1), store.readWhole("name", 1000));
    }

    @Test
    void ofPutsAtTheSameTimeOneAloneSucceeds() throws Exception {
        racePuts(store, 10);
    }

    /** Several threads put each name; fails unless one alone succeeds, whose bytes the object has. */
    static void racePuts(ObjectStore store, int names) throws Exception {
        List<List<Boolean>> outcomes = race(racer -> {
            List<Boolean> won = new ArrayList<>();
            for (int name = 0; name < names; name++) {
                won.add(isPut(store, "raced/" + name, bytes(10_000, racer)));
            }
            return won;
        });
        for (int name = 0; name < names; name++) {
            List<Integer> winners = new ArrayList<>();
            for (int racer = 0; racer < RACERS; racer++) {
                if (outcomes.get(racer).get(name)) {
                    winners.add(racer);
                }
            }
            assertEquals(1, winners.size(), "winners of " + name);
            assertArrayEquals(bytes(10_000, winners.get(0)), store.readWhole("raced/" + name, 10_000));
        }
    }

    private static boolean isPut(ObjectStore store, String name, byte[] bytes) throws IOException {
        try {
            store.put(name, ObjectSource.of(bytes));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    /** What one of several threads does. */
    @FunctionalInterface
    private interface Race<T> {
        T run(int racer) throws Exception;
    }

    private static <T> List<T> race(Race<T> race) throws Exception {
        CyclicBarrier start = new CyclicBarrier(RACERS);
        ExecutorService threads = Executors.newFixedThreadPool(RACERS);
        try {
            List<Callable<T>> tasks = new ArrayList<>();
            for (int racer = 0; racer < RACERS; racer++) {
                int number = racer;
                tasks.add(() -> {
                    start.await();
                    return race.run(number);
                });
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(tasks)) {
                results.add(each.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aPutThatBreaksOffLeavesNothing() throws IOException {
        byte[] bytes = bytes(200_000, 1);
        ObjectSource whole = ObjectSource.of(bytes);
        ObjectSource broken = new ObjectSource(
                bytes.length, whole.crc32c(), whole.token(), offset -> new Broken(bytes, bytes.length / 2));
        assertThrows(IOException.class, () -> store.put("name", broken));
        ObjectSource tooShort = new ObjectSource(bytes.length + 1, whole.crc32c(), whole.token(), whole.opening());
        assertThrows(EOFException.class, () -> store.put("name", tooShort));
        assertIsFree("name");
        store.put("name", whole);
        assertArrayEquals(bytes, store.readWhole("name", bytes.length));
    }

    private void assertIsFree(String name) throws IOException {
        assertThrows(NoSuchFileException.class, () -> store.status(name));
        assertEquals(List.of(), store.list("", "", 10).objects());
    }

    /** Bytes that cannot be read to their end. */
    private static final class Broken extends InputStream {
        private final byte[] bytes;
        private final int end;
        private int at;

        Broken(byte[] bytes, int end) {
            this.bytes = bytes;
            this.end = end;
        }

        @Override
        public int read() throws IOException {
            if (at == end) {
                throw new IOException("the disk below is gone");
            }
            return bytes[at++] & 0xff;
        }
    }

    @Test
    void bytesThatChangeOnTheWayAreRefused() throws IOException {
        byte[] bytes = bytes(100_000, 1);
        ObjectSource stated = ObjectSource.of(bytes);
        byte[] changed = bytes.clone();
        changed[99_999]++;
        ObjectSource other = new ObjectSource(
                stated.length(),
                stated.crc32c(),
                stated.token(),
                ObjectSource.of(changed).opening());
        assertThrows(CorruptionException.class, () -> store.put("name", other));
        ObjectSource empty = new ObjectSource(0, 1, UUID.randomUUID(), stated.opening());
        assertThrows(CorruptionException.class, () -> store.put("name", empty));
        assertIsFree("name");
    }

    @Test
    void manyNamesAreListedInPages() throws Exception {
        // In an order of their own; some go on where others have a slash.
        List<String> names = new ArrayList<>();
        IntStream.range(0, manyNames() / 4).forEach(number -> {
            String name = String.format("packs/%02x/%06x", number % 7, number);
            names.addAll(List.of(name + "/inside", name + "-more", name + ".part", name + "0"));
        });
        names.add("other");
        names.add("packs-other");
        List<String> shuffled = new ArrayList<>(names);
        Collections.shuffle(shuffled, new Random(1));
        race(racer -> {
            for (int at = racer; at < shuffled.size(); at += RACERS) {
                store.put(shuffled.get(at), ObjectSource.of(new byte[at % 3]));
            }
            return racer;
        });
        Collections.sort(names);
        assertEquals(names, listed("", 1000));
        assertEquals(names.subList(1, names.size()), listed("packs", 333));
        List<String> some =
                names.stream().filter(name -> name.startsWith("packs/03/0")).toList();
        assertEquals(some, listed("packs/03/0", 100));
        assertEquals(List.of(), listed("pack/", 100));
        ObjectPage last = store.list("", names.get(names.size() - 3), 2);
        assertEquals(names.subList(names.size() - 2, names.size()), last.names());
        assertTrue(last.isLast());
        assertFalse(store.list("", names.get(names.size() - 3), 1).isLast());
        for (int at = 0; at < names.size(); at += ObjectStore.MOST_NAMES) {
            store.delete(names.subList(at, Math.min(names.size(), at + ObjectStore.MOST_NAMES)));
        }
        assertEquals(List.of(), listed("", 1000));
    }

    private List<String> listed(String prefix, int limit) throws IOException {
        List<String> names = new ArrayList<>();
        while (true) {
            ObjectPage page = store.list(prefix, names.isEmpty() ? "" : names.get(names.size() - 1), limit);
            assertTrue(page.isLast() || page.objects().size() == limit, "a page is full");
            names.addAll(page.names());
            if (page.isLast()) {
                return names;
            }
        }
    }

    @Test
    void allCharactersOfNamesAreKept() throws IOException {
        String longest = "x".repeat(ObjectNames.MOST_OF_PART) + "/" + "y".repeat(ObjectNames.MOST_OF_PART);
        List<String> names = List.of("-=_", "=.", "A", "Z-.", "_", "a-b", "a.b", "a/b", "a0", "a=b", longest);
        for (String name : names) {
            store.put(name, ObjectSource.of(name.getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
        }
        assertEquals(names, store.list("", "", 100).names());
        for (String name : names) {
            assertEquals(name, new String(store.readWhole(name, 1000), java.nio.charset.StandardCharsets.US_ASCII));
        }
        String none = "x".repeat(ObjectNames.MOST_OF_PART + 1);
        for (String name : List.of("", "/a", "a/", "a//b", ".", "..", "a/../b", ".a", "a b", "ä", "a~", "a@1", none)) {
            assertThrows(IllegalArgumentException.class, () -> store.status(name), name);
            assertThrows(IllegalArgumentException.class, () -> store.put(name, ObjectSource.of(new byte[1])), name);
        }
        assertThrows(IllegalArgumentException.class, () -> store.list("../", "", 10));
    }

    @Test
    void conditionsAreKept() throws IOException {
        ObjectStores.checkConditions(store, "checked");
        assertEquals(List.of(), store.list("", "", 10).objects());
    }

    private ReplaceableObjects replaceable() {
        Optional<ReplaceableObjects> objects = store.replaceable();
        assumeTrue(objects.isPresent(), "the store cannot replace objects");
        return objects.get();
    }

    @Test
    void anObjectIsReplacedInTheVersionThatWasRead() throws IOException {
        ReplaceableObjects objects = replaceable();
        assertTrue(objects.current("state/lease").isEmpty());
        assertThrows(
                VersionChangedException.class,
                () -> objects.replace("state/lease", "1@2", UUID.randomUUID(), new byte[] {1}));
        UUID token = UUID.randomUUID();
        String first = objects.replace("state/lease", null, token, new byte[] {1});
        ReplaceableObjects.Version read = objects.current("state/lease").orElseThrow();
        assertEquals(first, read.version());
        assertEquals(token, read.token());
        assertArrayEquals(new byte[] {1}, read.contents());
        // The same contents are another version.
        String second = objects.replace("state/lease", first, UUID.randomUUID(), new byte[] {1});
        assertThrows(
                VersionChangedException.class,
                () -> objects.replace("state/lease", first, UUID.randomUUID(), new byte[] {3}));
        assertThrows(
                VersionChangedException.class,
                () -> objects.replace("state/lease", null, UUID.randomUUID(), new byte[] {3}));
        assertEquals(second, objects.current("state/lease").orElseThrow().version());
        byte[] most = bytes(ReplaceableObjects.MOST_BYTES, 1);
        objects.replace("state/lease", second, UUID.randomUUID(), most);
        assertArrayEquals(most, objects.current("state/lease").orElseThrow().contents());
        assertThrows(
                IllegalArgumentException.class,
                () -> objects.replace("state/lease", second, UUID.randomUUID(), new byte[most.length + 1]));
        assertEquals(List.of("state/lease"), store.list("", "", 10).names());
        store.delete(List.of("state/lease"));
        assertTrue(objects.current("state/lease").isEmpty());
        assertThrows(
                VersionChangedException.class,
                () -> objects.replace("state/lease", second, UUID.randomUUID(), new byte[] {4}));
    }

    @Test
    protected void eachVersionHasOneSuccessor() throws Exception {
        replaceable();
        assertEquals(RACERS * 20, raceReplacements(store, 20));
    }

    /** Several threads count up in one object; returns how far they got. */
    public static int raceReplacements(ObjectStore store, int steps) throws Exception {
        ReplaceableObjects objects = store.replaceable().orElseThrow();
        objects.replace("counter", null, UUID.randomUUID(), number(0));
        race(racer -> {
            for (int step = 0; step < steps; ) {
                ReplaceableObjects.Version read = objects.current("counter").orElseThrow();
                int next = ByteBuffer.wrap(read.contents()).getInt() + 1;
                try {
                    objects.replace("counter", read.version(), UUID.randomUUID(), number(next));
                    step++;
                } catch (VersionChangedException e) {
                    Thread.yield();
                }
            }
            return racer;
        });
        return ByteBuffer.wrap(objects.current("counter").orElseThrow().contents())
                .getInt();
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    @Test
    void anObjectIsPutInParts() throws IOException {
        Optional<ObjectParts> some = store.parts();
        assumeTrue(some.isPresent(), "the store has no parts");
        ObjectParts parts = some.get();
        byte[] bytes = bytes(ObjectParts.LEAST_BYTES + 1000, 1);
        ObjectSource whole = ObjectSource.of(bytes);
        ObjectSource one = piece(whole, bytes, 0, ObjectParts.LEAST_BYTES);
        ObjectSource two = piece(whole, bytes, ObjectParts.LEAST_BYTES, 1000);
        String upload = parts.begin("name", whole);
        ObjectParts.Part second = parts.put("name", upload, 2, two);
        ObjectSource changed = new ObjectSource(1000, one.crc32c(), one.token(), whole.opening());
        assertThrows(CorruptionException.class, () -> parts.put("name", upload, 1, changed));
        ObjectParts.Part first = parts.put("name", upload, 1, one);
        assertIsFree("name");
        parts.complete("name", upload, List.of(first, second));
        assertEquals(new ObjectStatus(bytes.length, whole.crc32c(), whole.token()), store.status("name"));
        assertArrayEquals(bytes, store.readWhole("name", bytes.length));
        // Another's, as late as possible.
        ObjectSource late = ObjectSource.of(bytes(10, 2));
        String other = parts.begin("name", late);
        List<ObjectParts.Part> put = List.of(parts.put("name", other, 1, late));
        assertThrows(FileAlreadyExistsException.class, () -> parts.complete("name", other, put));
        parts.abandon("name", other);
        parts.abandon("name", other);
        assertEquals(whole.token(), store.status("name").token());
        assertThrows(NoSuchFileException.class, () -> parts.put("name", other, 2, late));
    }

    private static ObjectSource piece(ObjectSource whole, byte[] bytes, int offset, int length) {
        byte[] range = java.util.Arrays.copyOfRange(bytes, offset, offset + length);
        return whole.part(offset, length, ObjectSource.of(range).crc32c());
    }

    @Test
    void whatNeverEndedIsRemoved() throws IOException {
        Optional<ObjectParts> parts = store.parts();
        assumeTrue(parts.isPresent(), "the store has no parts");
        ObjectSource source = ObjectSource.of(bytes(10, 1));
        String upload = parts.get().begin("folder/name", source);
        store.removeUnfinished(java.time.Instant.now().minusSeconds(3600));
        parts.get().put("folder/name", upload, 1, source);
        store.removeUnfinished(java.time.Instant.now().plusSeconds(3600));
        assertThrows(NoSuchFileException.class, () -> parts.get().put("folder/name", upload, 2, source));
    }
}
