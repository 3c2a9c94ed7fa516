package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;

/**
 * An owner that deletes packs and readers elsewhere, in virtual time: whenever one of them asks the store, others may
 * act before and after, time may pass, and the answer may be lost. A reader that is not told that it is lost finds each
 * pack of the state that it has read, and in the end nothing is left that nobody needs.
 */
final class ReadersModelTest {
    private static final int RUNS = 300;
    private static final int STEPS = 120;
    private static final long MINUTE_NS = 60_000_000_000L;
    /** Calls of other actors within calls. */
    private static final int DEPTH = 2;

    private enum Fault {
        NONE,
        /** A reader reads the metadata before it registers. */
        REGISTERS_LATE,
        /** The owner asks which readers there are before the metadata have stopped naming a pack. */
        ASKS_EARLY,
        /** A reader does not look whether the owner took it for dead. */
        DOES_NOT_LOOK
    }

    @Test
    void aReaderFindsWhatItsStateNamesOrIsToldThatItIsLost() throws IOException {
        long seed = TestSeed.next();
        for (int run = 0; run < RUNS; run++) {
            try {
                new Trial(seed + run, Fault.NONE).run();
            } catch (IOException | AssertionError e) {
                throw new AssertionError("seed " + (seed + run), e);
            }
        }
    }

    @Test
    void controlAReaderThatRegistersLateIsFoundOut() {
        assertTrue(isFoundOut(Fault.REGISTERS_LATE));
    }

    @Test
    void controlAnOwnerThatAsksEarlyIsFoundOut() {
        assertTrue(isFoundOut(Fault.ASKS_EARLY));
    }

    @Test
    void controlAReaderThatDoesNotLookIsFoundOut() {
        assertTrue(isFoundOut(Fault.DOES_NOT_LOOK));
    }

    private static boolean isFoundOut(Fault fault) {
        for (long seed = 0; seed < RUNS; seed++) {
            try {
                new Trial(seed, fault).run();
            } catch (IOException | AssertionError e) {
                return true;
            }
        }
        return false;
    }

    private static final class Trial {
        private final SplittableRandom random;
        private final Fault fault;
        private final MapStore store = new MapStore(this::others);
        /** Packs that the metadata in the store name. */
        private final Set<String> named = new TreeSet<>();

        private final List<Reader> readers = new ArrayList<>();
        private long clock;
        private Owner owner;
        private int made;
        private int depth;

        Trial(long seed, Fault fault) {
            random = new SplittableRandom(seed);
            this.fault = fault;
            owner = new Owner();
        }

        /** @throws AssertionError if a reader misses a pack, or one stays that nobody needs */
        void run() throws IOException {
            for (int step = 0; step < STEPS; step++) {
                act();
            }
            store.isCalm = true;
            for (Reader reader : List.copyOf(readers)) {
                reader.close();
            }
            // The last owner finds what those before it forgot, as a collection does.
            Owner last = new Owner();
            for (String object : List.copyOf(store.objects.keySet())) {
                if (object.startsWith(PackNames.PACKS) && !named.contains(packOf(object))) {
                    last.deletions.add(packOf(object), 0);
                }
            }
            last.deletions.shipped(0);
            for (int minutes = 0; minutes < 40; minutes++) {
                clock += MINUTE_NS;
                last.deletions.run();
            }
            Set<String> left = new TreeSet<>();
            store.objects.keySet().forEach(object -> left.add(packOf(object)));
            assertEquals(named, left);
        }

        private static String packOf(String object) {
            return object.substring(object.indexOf('/') + 1);
        }

        /** What happens while somebody asks the store. */
        private void others() throws IOException {
            if (depth < DEPTH && random.nextInt(4) == 0) {
                depth++;
                act();
                depth--;
            }
            if (random.nextInt(30) == 0) {
                throw new UnavailableException("no answer");
            }
        }

        private void act() throws IOException {
            clock += random.nextLong(MINUTE_NS);
            if (random.nextInt(40) == 0) {
                clock += 20 * MINUTE_NS; // Somebody is stopped.
            }
            try {
                switch (random.nextInt(12)) {
                    case 0 -> {
                        if (readers.size() < 4) {
                            new Reader();
                        }
                    }
                    case 1 -> {
                        if (random.nextInt(4) == 0) {
                            owner = new Owner(); // The one before was killed.
                        }
                    }
                    case 2, 3 -> owner.make();
                    case 4, 5 -> owner.unname();
                    case 6, 7 -> owner.delete();
                    case 8 -> {
                        if (!readers.isEmpty() && random.nextInt(3) == 0) {
                            Reader gone = readers.remove(random.nextInt(readers.size()));
                            if (random.nextBoolean()) {
                                gone.close();
                            }
                        }
                    }
                    default -> {
                        for (Reader reader : List.copyOf(readers)) {
                            reader.goOn();
                        }
                    }
                }
            } catch (UnavailableException e) {
                // Its caller tries again later.
            }
        }

        private final class Owner {
            private final Readers known = new Readers(store, () -> clock);
            private final Deletions deletions = new Deletions(store, known, () -> clock, "model", name -> {});
            private boolean isDeleting;

            void make() {
                String pack = "pack" + made++;
                store.objects.put(PackNames.pack(pack), 0L);
                named.add(pack);
            }

            void unname() throws IOException {
                if (!named.isEmpty()) {
                    String pack = List.copyOf(named).get(random.nextInt(named.size()));
                    deletions.add(pack, 0);
                    if (fault == Fault.ASKS_EARLY) {
                        deletions.shipped(0);
                        delete();
                    }
                    named.remove(pack);
                    deletions.shipped(0);
                }
            }

            void delete() throws IOException {
                // One thread deletes.
                if (!isDeleting) {
                    isDeleting = true;
                    try {
                        deletions.run();
                    } finally {
                        isDeleting = false;
                    }
                }
            }
        }

        private final class Reader {
            private final ReaderRegistration registration;
            private final Set<String> state;
            private long renewedNs = clock;
            private boolean isBusy;

            Reader() throws IOException {
                Set<String> early = new TreeSet<>(named);
                if (fault == Fault.REGISTERS_LATE) {
                    owner.unname();
                    owner.delete();
                }
                registration = ReaderRegistration.register(store, new ReaderNames.Parts("r" + made++, 0, true));
                state = fault == Fault.REGISTERS_LATE ? early : new TreeSet<>(named);
                readers.add(this);
            }

            void goOn() throws IOException {
                if (isBusy) {
                    return;
                }
                isBusy = true;
                try {
                    if (clock - renewedNs > 5 * MINUTE_NS && random.nextInt(3) > 0) {
                        registration.renew();
                        renewedNs = clock;
                    }
                    read();
                } finally {
                    isBusy = false;
                }
            }

            private void read() throws IOException {
                for (String pack : state) {
                    if (!store.objects.containsKey(PackNames.pack(pack))
                            && (fault == Fault.DOES_NOT_LOOK || !registration.isFoundLost())) {
                        throw new FileNotFoundException(pack + " is missing for a reader that is not lost");
                    }
                }
            }

            void close() throws IOException {
                registration.close();
            }
        }
    }

    /** Objects without bytes. */
    private static final class MapStore implements ObjectStore {
        interface Others {
            void act() throws IOException;
        }

        private final TreeMap<String, Long> objects = new TreeMap<>();
        private final Others others;
        private boolean isCalm;

        MapStore(Others others) {
            this.others = others;
        }

        private void around() throws IOException {
            if (!isCalm) {
                others.act();
            }
        }

        @Override
        public void put(String name, ObjectSource source) throws IOException {
            around();
            if (objects.putIfAbsent(name, source.length()) != null) {
                throw new FileAlreadyExistsException(name);
            }
            around();
        }

        @Override
        public void read(String name, long offset, ByteBuffer target) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ObjectStatus status(String name) throws IOException {
            around();
            @Nullable Long length = objects.get(name);
            around();
            if (length == null) {
                throw new NoSuchFileException(name);
            }
            return new ObjectStatus(length, 0, new UUID(0, 0));
        }

        @Override
        public ObjectPage list(String prefix, String after, int limit) throws IOException {
            around();
            List<ObjectPage.Entry> entries = new ArrayList<>();
            for (Map.Entry<String, Long> each : objects.tailMap(prefix).entrySet()) {
                if (each.getKey().startsWith(prefix) && each.getKey().compareTo(after) > 0) {
                    entries.add(new ObjectPage.Entry(each.getKey(), each.getValue()));
                }
            }
            around();
            // As a folder does it, which is read before the lengths of its files are.
            entries.removeIf(entry -> !objects.containsKey(entry.name()));
            return new ObjectPage(entries, true);
        }

        @Override
        public void delete(Collection<String> names) throws IOException {
            around();
            names.forEach(objects::remove);
            around();
        }

        @Override
        public void removeUnfinished(Instant before) {}

        @Override
        public void close() {}
    }
}
