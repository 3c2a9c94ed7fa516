package org.opendedup.sar.ingest;

import java.io.Closeable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;

/**
 * Keeps the chunks of a stream together when many threads store them one by one: the streams that were written last
 * have an open container each, which all threads of the stream append to. Safe for use by many threads.
 */
final class StreamWriters implements Closeable {
    private static final float LOAD_FACTOR = 0.75f;

    private final ContainerStore containers;
    private final int maxStreams;
    /** In the order of the last use. Guarded by this. */
    private final Map<Long, Lane> lanes = new LinkedHashMap<>(16, LOAD_FACTOR, true);

    /** @param maxStreams streams with a container of their own */
    StreamWriters(ContainerStore containers, int maxStreams) {
        this.containers = containers;
        this.maxStreams = maxStreams;
    }

    /** The container of a stream. */
    private static final class Lane {
        private final ReentrantLock lock = new ReentrantLock();
        private final ContainerWriter writer;
        /** Threads that use it. Guarded by the table. */
        private int users;

        private Lane(ContainerWriter writer) {
            this.writer = writer;
        }
    }

    /** Appends a chunk to the stream's container; see {@link ContainerWriter#append}. */
    long append(long stream, byte[] data, int length, byte[] fingerprint) throws IOException {
        Lane lane = enter(stream);
        try {
            lane.lock.lock();
            try {
                return lane.writer.append(data, 0, length, fingerprint, 0);
            } finally {
                lane.lock.unlock();
            }
        } catch (IOException e) {
            // The container may have failed: the next chunk gets another one.
            forget(stream, lane);
            throw e;
        } finally {
            leave(stream, lane);
        }
    }

    private synchronized Lane enter(long stream) {
        Lane lane = lanes.get(stream);
        if (lane == null) {
            makeRoom();
            lane = new Lane(containers.writer(stream));
            lanes.put(stream, lane);
        }
        lane.users++;
        return lane;
    }

    /** Closes the idle streams that were used longest ago, so that a new one fits. */
    private void makeRoom() {
        var oldest = lanes.values().iterator();
        while (lanes.size() >= maxStreams && oldest.hasNext()) {
            Lane lane = oldest.next();
            if (lane.users == 0) {
                oldest.remove();
                lane.writer.close();
            }
        }
    }

    private synchronized void forget(long stream, Lane lane) {
        lanes.remove(stream, lane);
    }

    private synchronized void leave(long stream, Lane lane) {
        lane.users--;
        if (lane.users == 0 && lanes.get(stream) != lane) {
            lane.writer.close();
        }
    }

    /** Releases all containers; no append may run. */
    @Override
    public synchronized void close() {
        lanes.values().forEach(lane -> lane.writer.close());
        lanes.clear();
    }
}
