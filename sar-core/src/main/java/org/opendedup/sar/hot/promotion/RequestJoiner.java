package org.opendedup.sar.hot.promotion;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskCost;

/**
 * Joins what is wanted of containers to disk requests, by the places in the packs, as readers and
 * {@link org.opendedup.sar.disk.DiskModel#gapBytes the model of the disk} do: over gaps of a limited size, between
 * containers as well, if both sides are wanted within one window of the file. Passes on the requests of which the disk
 * spends more time on the seek than on the transfer; the others stay on the disk. For one thread.
 */
final class RequestJoiner {
    private final int gapBytes;
    private final long windowBytes;
    private final RecipeRequests requests;

    private @Nullable ContainerLayout layout;
    /** Requests that end in earlier containers, and may go on in the present one. */
    private List<Request> open = new ArrayList<>();
    /** Requests that end in the present container, one for each visit. */
    private List<Request> ended = new ArrayList<>();
    /** Request of the present visit that the next chunk may belong to. */
    private @Nullable Request present;

    private long wantedFrom;
    private long wantedTo;
    private int visits;

    /**
     * @param gapBytes largest gap between two frames of one request, in bytes
     * @param windowBytes largest distance in the file, in bytes, at which two frames are wanted by one request
     * @param requests receives the requests
     */
    RequestJoiner(int gapBytes, long windowBytes, RecipeRequests requests) {
        this.gapBytes = gapBytes;
        this.windowBytes = windowBytes;
        this.requests = requests;
    }

    /** A request that may go on. */
    private static final class Request {
        final long pack;
        final long start;
        long end;
        long wantedFrom;
        long wantedTo;
        int visits = Integer.MAX_VALUE;
        /** Bytes of the chunks. If they are many, the chunks themselves are not kept. */
        long bytes;

        private int count;
        private long[] chunkIds = new long[8];
        private int[] lengths = new int[8];

        Request(long pack, long start) {
            this.pack = pack;
            this.start = start;
        }

        /** Whether the transfer takes longer than the seek that a copy on the SSD would save. */
        boolean isLong() {
            return bytes > DiskCost.SEEK_BYTES;
        }

        void add(long chunkId, int length) {
            bytes += length;
            if (isLong()) {
                count = 0;
                return;
            }
            if (count == chunkIds.length) {
                chunkIds = Arrays.copyOf(chunkIds, 2 * count);
                lengths = Arrays.copyOf(lengths, 2 * count);
            }
            chunkIds[count] = chunkId;
            lengths[count++] = length;
        }

        void addTo(RecipeRequests requests) {
            if (isLong()) {
                return;
            }
            for (int i = 0; i < count; i++) {
                requests.add(chunkIds[i], lengths[i]);
            }
            requests.end(DiskCost.saving(bytes, end - start), visits);
        }
    }

    /** Begins with a container: those of a pack in ascending order of their offsets. */
    void begin(ContainerLayout next) {
        endVisit();
        List<Request> reached = new ArrayList<>();
        open.addAll(ended);
        for (Request request : open) {
            if (request.pack == next.pack() && next.offset() - request.end <= gapBytes) {
                reached.add(request);
            } else {
                request.addTo(requests);
            }
        }
        open = reached;
        ended = new ArrayList<>();
        layout = next;
    }

    /**
     * Begins with a visit of the container.
     *
     * @param from offset in the file at which the reader comes to the container, in bytes
     * @param to offset in the file of its last use
     * @param ofContainer number of visits to the container
     */
    void visit(long from, long to, int ofContainer) {
        endVisit();
        wantedFrom = from;
        wantedTo = to;
        visits = ofContainer;
    }

    /** Adds a chunk of the visit, in ascending order of the slots; leaves it out if no frame holds it. */
    void add(long chunkId, int length) {
        ContainerLayout at = Objects.requireNonNull(layout);
        int frame = at.frameOf(ChunkId.slot(chunkId));
        if (frame < 0) {
            return;
        }
        Request request = present == null ? fromEarlier(at.start(frame)) : present;
        if (request != null && at.start(frame) - request.end > gapBytes) {
            request.addTo(requests);
            request = null;
        }
        if (request == null) {
            request = new Request(at.pack(), at.start(frame));
            request.wantedFrom = wantedFrom;
        }
        request.end = Math.max(request.end, at.end(frame));
        request.wantedFrom = Math.min(request.wantedFrom, wantedFrom);
        request.wantedTo = Math.max(request.wantedTo, wantedTo);
        // The copies save the seek of every visit only where all chunks are wanted each time.
        request.visits = Math.min(request.visits, visits);
        request.add(chunkId, length);
        present = request;
    }

    /** Removes and returns a request of an earlier container that goes on at {@code start}; null if none does. */
    private @Nullable Request fromEarlier(long start) {
        for (Request request : open) {
            if (start - request.end <= gapBytes
                    && wantedFrom - request.wantedTo <= windowBytes
                    && request.wantedFrom - wantedTo <= windowBytes) {
                open.remove(request);
                return request;
            }
        }
        return null;
    }

    private void endVisit() {
        if (present != null) {
            ended.add(present);
            present = null;
        }
    }

    /** Ends all requests. */
    void end() {
        endVisit();
        open.addAll(ended);
        open.forEach(request -> request.addTo(requests));
        open = new ArrayList<>();
        ended = new ArrayList<>();
    }
}
