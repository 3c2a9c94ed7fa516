package org.opendedup.sar.objects.reliable;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectParts;
import org.opendedup.sar.objects.ObjectParts.Part;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.VersionChangedException;
import org.opendedup.sar.objects.reliable.Requests.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a store again when it does not answer. A change whose answer was lost is recognised by its token, so a put that
 * succeeded does not look like that of another. Large objects are read in ranges, and put in parts, at the same time.
 */
public final class ReliableObjectStore implements ObjectStore {
    private static final Logger log = LoggerFactory.getLogger(ReliableObjectStore.class);

    private static final int COPY_BYTES = 256 << 10;

    private final ObjectStore store;
    private final Limits limits;
    private final Requests requests;
    private final Lanes lanes;

    /** Takes over the store, and closes it. */
    public ReliableObjectStore(ObjectStore store, Limits limits, Timer timer, RandomGenerator random) {
        this.store = store;
        this.limits = limits;
        requests = new Requests(store.toString(), limits, timer, random);
        lanes = new Lanes(limits.lanes());
    }

    /** Opens the store of an address, as {@link ObjectStores#open} does. */
    public static ReliableObjectStore open(String address, Limits limits) throws IOException {
        return new ReliableObjectStore(ObjectStores.open(address), limits, Timer.SYSTEM, new SecureRandom());
    }

    public ObjectStoreStatistics statistics() {
        return requests.statistics();
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        try {
            Optional<ObjectParts> parts = store.parts();
            if (parts.isPresent() && source.length() > limits.wholeBytes()) {
                new PutInParts(name, source, parts.get()).run();
            } else {
                requests.ask(Kind.PUT, () -> {
                    store.put(name, source);
                    return name;
                });
            }
        } catch (FileAlreadyExistsException e) {
            if (!isOurs(name, source)) {
                throw e;
            }
        }
        requests.sent(source.length());
    }

    /** Returns whether an object is there by an earlier try of a put. */
    private boolean isOurs(String name, ObjectSource source) throws IOException {
        try {
            return status(name).token().equals(source.token());
        } catch (NoSuchFileException e) {
            log.debug("{} was deleted meanwhile", name, e);
            return false;
        }
    }

    /** A put in parts. */
    private final class PutInParts {
        private final String name;
        private final ObjectSource source;
        private final ObjectParts parts;

        PutInParts(String name, ObjectSource source, ObjectParts parts) {
            this.name = name;
            this.source = source;
            this.parts = parts;
        }

        void run() throws IOException {
            List<ObjectSource> pieces = divided();
            String upload = requests.ask(Kind.PART, () -> parts.begin(name, source));
            boolean isDone = false;
            try {
                List<Callable<Part>> tasks = new ArrayList<>();
                for (ObjectSource piece : pieces) {
                    int number = tasks.size() + 1;
                    tasks.add(() -> requests.ask(Kind.PART, () -> parts.put(name, upload, number, piece)));
                }
                complete(upload, lanes.all(tasks));
                isDone = true;
            } finally {
                if (!isDone) {
                    abandon(upload);
                }
            }
        }

        /** Divides the source; reads it once for the checksums of the parts, and compares that of the whole. */
        private List<ObjectSource> divided() throws IOException {
            long partBytes = limits.partBytesOf(source.length());
            List<ObjectSource> pieces = new ArrayList<>();
            try (InputStream bytes = source.open()) {
                for (long at = 0; at < source.length(); at += partBytes) {
                    long length = Math.min(partBytes, source.length() - at);
                    pieces.add(source.part(at, length, checksum(bytes, length)));
                }
            }
            return pieces;
        }

        private int checksum(InputStream bytes, long length) throws IOException {
            CRC32C crc = new CRC32C();
            byte[] some = new byte[COPY_BYTES];
            for (long left = length; left > 0; ) {
                int read = bytes.read(some, 0, (int) Math.min(some.length, left));
                if (read < 0) {
                    throw new EOFException(name + " has fewer bytes than stated");
                }
                crc.update(some, 0, read);
                left -= read;
            }
            return (int) crc.getValue();
        }

        private void complete(String upload, List<Part> put) throws IOException {
            try {
                requests.ask(Kind.PART, () -> {
                    parts.complete(name, upload, put);
                    return name;
                });
            } catch (NoSuchFileException e) {
                // An earlier try completed it.
                if (!isOurs(name, source)) {
                    throw new IOException(store + " has lost the parts of " + name + ", which was not completed", e);
                }
            }
        }

        /** Gives the put up; what stays then is for {@link #removeUnfinished}. */
        private void abandon(String upload) {
            try {
                requests.ask(Kind.PART, () -> {
                    parts.abandon(name, upload);
                    return name;
                });
            } catch (IOException e) {
                log.warn("{}: the parts of {} stay until unfinished puts are removed: {}", store, name, e.getMessage());
            }
        }
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        int length = target.remaining();
        if (length <= limits.rangeBytes()) {
            readRange(name, offset, target.slice());
        } else {
            List<Callable<String>> tasks = new ArrayList<>();
            for (int at = 0; at < length; at += limits.rangeBytes()) {
                int from = at;
                ByteBuffer range = target.slice(target.position() + from, Math.min(limits.rangeBytes(), length - from));
                tasks.add(() -> {
                    readRange(name, offset + from, range);
                    return name;
                });
            }
            lanes.all(tasks);
        }
        target.position(target.limit());
        requests.received(length);
    }

    private void readRange(String name, long offset, ByteBuffer range) throws IOException {
        requests.ask(Kind.READ, () -> {
            store.read(name, offset, range.duplicate());
            return name;
        });
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        return requests.ask(Kind.STATUS, () -> store.status(name));
    }

    @Override
    public Optional<Instant> madeAt(String name) throws IOException {
        return requests.ask(Kind.STATUS, () -> store.madeAt(name));
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        return requests.ask(Kind.LIST, () -> store.list(prefix, after, limit));
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        List<String> all = List.copyOf(names);
        for (int at = 0; at < all.size(); at += MOST_NAMES) {
            List<String> some = all.subList(at, Math.min(all.size(), at + MOST_NAMES));
            requests.ask(Kind.DELETE, () -> {
                store.delete(some);
                return some;
            });
        }
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        requests.ask(Kind.LIST, () -> {
            store.removeUnfinished(before);
            return before;
        });
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return store.replaceable().map(Replacing::new);
    }

    private final class Replacing implements ReplaceableObjects {
        private final ReplaceableObjects objects;

        Replacing(ReplaceableObjects objects) {
            this.objects = objects;
        }

        @Override
        public Optional<Version> current(String name) throws IOException {
            return requests.ask(Kind.REPLACE, () -> objects.current(name));
        }

        /**
         * {@inheritDoc}
         *
         * <p>If the answer to a try was lost, and another has replaced the new version since, this reports a
         * {@link VersionChangedException} too, although the version was there for a time.
         *
         * @throws UnavailableException if the store does not answer; it is not known then whether it was replaced
         */
        @Override
        public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
            try {
                return requests.ask(Kind.REPLACE, () -> objects.replace(name, expected, token, contents));
            } catch (VersionChangedException e) {
                Optional<Version> now = current(name);
                if (now.isPresent() && now.get().token().equals(token)) {
                    return now.get().version();
                }
                throw e;
            }
        }
    }

    @Override
    public void close() throws IOException {
        lanes.close();
        store.close();
    }

    @Override
    public String toString() {
        return store.toString();
    }
}
