package org.opendedup.sar.hot.copies;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.Source;

/** Copies in memory that can be made to fail in all ways of an SSD. Safe for use by many threads. */
public final class FakeCopyStore implements CopyStore {
    /** Behaviour of its reads. */
    public enum Fault {
        NONE,
        /** As an I/O error: no data. */
        FAILS,
        WRONG_BYTES,
        SHORT,
        THROWS
    }

    public final Map<Long, byte[]> copies = new ConcurrentHashMap<>();
    public final Set<Long> dropped = ConcurrentHashMap.newKeySet();
    public final AtomicInteger chunksRead = new AtomicInteger();
    public volatile Fault fault = Fault.NONE;
    /** Reads wait for it, as with an SSD that hangs. */
    public volatile CountDownLatch gate = new CountDownLatch(0);

    @Override
    public int copies() {
        return copies.size();
    }

    @Override
    public boolean holds(long chunkId) {
        return copies.containsKey(chunkId);
    }

    @Override
    public void probe() {
        awaitGate();
    }

    private void awaitGate() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void read(ChunkRequest request) {
        awaitGate();
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.SSD) {
                read(request, i);
            }
        }
    }

    private void read(ChunkRequest request, int i) {
        byte[] copy = copies.get(request.chunkId(i));
        if (copy == null || fault == Fault.FAILS) {
            request.setSource(i, Source.HOME);
            return;
        }
        chunksRead.incrementAndGet();
        switch (fault) {
            case THROWS -> throw new IllegalStateException("as told by the test");
            case WRONG_BYTES -> {
                byte[] wrong = copy.clone();
                wrong[wrong.length / 2] ^= 1;
                request.setData(i, wrong, 0, wrong.length);
            }
            case SHORT -> request.setData(i, copy, 0, copy.length / 2);
            default -> request.setData(i, copy, 0, copy.length);
        }
    }

    @Override
    public void dropDamaged(long chunkId) {
        copies.remove(chunkId);
        dropped.add(chunkId);
    }
}
