package org.opendedup.sar.objects.reliable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectParts;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;

/**
 * A store that does not answer some requests: some never arrive, of some the answer is lost, some are cut in the
 * middle. Some that are answered take long.
 */
final class FaultyObjectStore implements ObjectStore {
    private final ObjectStore store;
    private final CountingTimer timer;
    private final Random random;
    private volatile double share;

    /** @param share of the requests, that fail */
    FaultyObjectStore(ObjectStore store, CountingTimer timer, double share, long seed) {
        this.store = store;
        this.timer = timer;
        this.share = share;
        this.random = new Random(seed);
    }

    void setShare(double now) {
        share = now;
    }

    private enum Fault {
        NONE,
        LOST,
        ANSWER_LOST,
        CUT,
        SLOW
    }

    private Fault next() {
        return random.nextDouble() >= share ? Fault.NONE : Fault.values()[1 + random.nextInt(4)];
    }

    private <T> T with(Fault fault, Callable<T> request) throws IOException {
        if (fault == Fault.LOST) {
            throw new UnavailableException("the connection was reset");
        } else if (fault == Fault.SLOW) {
            timer.sleep(3_000_000_000L);
        }
        T answer = call(request);
        if (fault == Fault.ANSWER_LOST) {
            throw new UnavailableException("the connection was closed before the answer");
        }
        return answer;
    }

    private static <T> T call(Callable<T> request) throws IOException {
        try {
            return request.call();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private <T> T ask(Callable<T> request) throws IOException {
        Fault fault = next();
        return with(fault == Fault.CUT ? Fault.LOST : fault, request);
    }

    /** Reads a part of what would be sent. */
    private static void cut(ObjectSource source) throws IOException {
        source.opening().open(0).readNBytes((int) source.length() / 2);
        throw new UnavailableException("the connection was reset in the middle");
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        Fault fault = next();
        if (fault == Fault.CUT) {
            cut(source);
        }
        with(fault, () -> {
            store.put(name, source);
            return name;
        });
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        Fault fault = next();
        if (fault == Fault.CUT) {
            target.limit(target.position() + target.remaining() / 2);
            while (target.hasRemaining()) {
                target.put((byte) 0x55);
            }
            throw new UnavailableException("the connection was closed in the middle");
        }
        with(fault, () -> {
            store.read(name, offset, target);
            return name;
        });
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        return ask(() -> store.status(name));
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        return ask(() -> store.list(prefix, after, limit));
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        Fault fault = next();
        if (fault == Fault.CUT) {
            store.delete(List.copyOf(names).subList(0, names.size() / 2));
            throw new UnavailableException("the connection was reset in the middle");
        }
        with(fault, () -> {
            store.delete(names);
            return names;
        });
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        ask(() -> {
            store.removeUnfinished(before);
            return before;
        });
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return store.replaceable().map(objects -> new ReplaceableObjects() {
            @Override
            public Optional<Version> current(String name) throws IOException {
                return ask(() -> objects.current(name));
            }

            @Override
            public String replace(String name, @Nullable String expected, UUID token, byte[] contents)
                    throws IOException {
                return ask(() -> objects.replace(name, expected, token, contents));
            }
        });
    }

    @Override
    public Optional<ObjectParts> parts() {
        return store.parts().map(parts -> new ObjectParts() {
            @Override
            public String begin(String name, ObjectSource source) throws IOException {
                return ask(() -> parts.begin(name, source));
            }

            @Override
            public Part put(String name, String upload, int number, ObjectSource part) throws IOException {
                Fault fault = next();
                if (fault == Fault.CUT) {
                    cut(part);
                }
                return with(fault, () -> parts.put(name, upload, number, part));
            }

            @Override
            public void complete(String name, String upload, List<Part> put) throws IOException {
                ask(() -> {
                    parts.complete(name, upload, put);
                    return name;
                });
            }

            @Override
            public void abandon(String name, String upload) throws IOException {
                ask(() -> {
                    parts.abandon(name, upload);
                    return name;
                });
            }
        });
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    @Override
    public String toString() {
        return "faulty " + store;
    }
}
