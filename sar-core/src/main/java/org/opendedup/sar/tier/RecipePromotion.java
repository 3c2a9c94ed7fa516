package org.opendedup.sar.tier;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;
import org.opendedup.sar.ssd.OfferAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Promotes from whole recipes, beyond the paper: once a file with duplicates is written, it is known of which containers a restore
 * will want little. What it wants of these is read from the disk in the background, in the order of the disk and only while
 * nothing else reads, and offered to the SSD, what saves most first. Safe for use by many threads.
 */
public final class RecipePromotion implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(RecipePromotion.class);

    private static final long NO_INODE = Long.MIN_VALUE;
    private static final int MAX_WAITING_INODES = 1024;
    private static final long QUIET_NANOS = 10_000_000_000L;
    /** A smaller file shares its containers with its neighbours, and a restore of all of them reads these whole. */
    private static final long MIN_FILE_BYTES = 4 << 20;

    private static final int POLL_MILLIS = 1000;
    private static final int IDLE_MILLIS = 200;
    private static final int RETRY_MILLIS = 50;
    /** Heap bytes that a reference takes while its part is analysed. */
    private static final int REFERENCE_BYTES = 80;
    /** More than a page of a recipe has. */
    private static final int LEAST_REFERENCES = 1 << 16;

    /** Five seconds: an SSD whose queue stays full as long is busy with what is worth more. */
    private static final int MAX_RETRIES = 100;

    private final SelectivePromotion promotion;
    private final Admission admission;
    private final Sources sources;
    private final RecentInodes inodes;
    private final RecipeUse use;
    private final Thread worker;
    /** Of the background thread. */
    private long lastDiskUse = Long.MIN_VALUE;

    /** Guards waiting only. */
    private final Object pause = new Object();

    private volatile boolean closed;

    /**
     * Where recipes and chunks are.
     *
     * @param pageBytes bytes of a file that one page of its recipe spans
     * @param diskUse a number that changes with every use of the disk by the volume's users, and not by this class
     */
    public record Sources(
            RecipeStore recipes, int pageBytes, ContainerStore containers, CountSource counts, LongSupplier diskUse) {}

    /**
     * @param windowBytes bytes of a file over which a restore keeps what it has read in memory
     * @param heapBytes what a part of a recipe may take while it is analysed
     * @param name of the volume, for the thread's name
     */
    public RecipePromotion(
            SelectivePromotion promotion,
            Admission admission,
            Sources sources,
            long windowBytes,
            long heapBytes,
            String name) {
        this(promotion, admission, sources, windowBytes, heapBytes, QUIET_NANOS, name);
    }

    RecipePromotion(
            SelectivePromotion promotion,
            Admission admission,
            Sources sources,
            long windowBytes,
            long heapBytes,
            long quietNanos,
            String name) {
        this.promotion = promotion;
        this.admission = admission;
        this.sources = sources;
        inodes = new RecentInodes(MAX_WAITING_INODES, quietNanos);
        use = new RecipeUse(windowBytes, maxReferences(heapBytes));
        worker = new Thread(this::work, "recipe promotion " + name);
        worker.setDaemon(true);
        worker.start();
    }

    static int maxReferences(long heapBytes) {
        return (int) Math.max(LEAST_REFERENCES, Math.min(RecipeUse.MAX_REFERENCES, heapBytes / REFERENCE_BYTES));
    }

    /** A file was written, or read as a whole: its recipe is looked at when nothing was noted of it for a while. Never waits. */
    public void note(long inode) {
        if (promotion.promotesByRecipe()) {
            inodes.note(inode, System.nanoTime());
        }
    }

    private void work() {
        while (pause(POLL_MILLIS)) {
            long inode = inodes.takeQuiet(System.nanoTime(), NO_INODE);
            while (!closed && inode != NO_INODE) {
                promote(inode);
                inode = inodes.takeQuiet(System.nanoTime(), NO_INODE);
            }
        }
    }

    /** Waits; false if it is to end. */
    private boolean pause(int millis) {
        synchronized (pause) {
            try {
                if (!closed) {
                    pause.wait(millis);
                }
            } catch (InterruptedException e) {
                // Nobody interrupts this thread but to end it.
                closed = true;
            }
            return !closed;
        }
    }

    private void promote(long inode) {
        if (!promotion.promotesByRecipe()) {
            return;
        }
        try {
            use.clear();
            promoteParts(inode);
        } catch (Stopped e) {
            log.debug("promotion of inode {} stopped: {}", inode, e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.warn("inode {} is not promoted from its recipe: {}", inode, e.getMessage(), e);
        }
    }

    /** Nothing more can be promoted now. */
    private static final class Stopped extends IOException {
        private static final long serialVersionUID = 1;

        Stopped(String reason) {
            super(reason);
        }
    }

    /** No more references fit in this part. */
    private static final class PartFull extends IOException {
        private static final long serialVersionUID = 1;
        final long nextPage;

        PartFull(long nextPage) {
            super("the part goes up to page " + nextPage);
            this.nextPage = nextPage;
        }
    }

    /** Goes over the references of a file, in parts of bounded size; the database is not being read while one is promoted. */
    private void promoteParts(long inode) throws IOException {
        boolean first = true;
        long page = 0;
        while (page >= 0) {
            page = gather(inode, page);
            if (first && page < 0 && use.bytes() < MIN_FILE_BYTES) {
                return;
            }
            RecipeRequests requests = use.analyse(this::layout);
            use.clear();
            new Plan(requests).run();
            first = false;
        }
    }

    /** Gathers a part; returns the page where the next one begins, or -1 at the end of the file. */
    private long gather(long inode, long fromPage) throws IOException {
        try {
            sources.recipes().forEachPage(inode, fromPage, Long.MAX_VALUE, this::gatherPage);
            return -1;
        } catch (PartFull full) {
            return full.nextPage;
        }
    }

    private void gatherPage(long number, RecipePage page) throws IOException {
        if (closed) {
            throw new Stopped("the volume is being closed");
        }
        if (use.room() < page.count()) {
            throw new PartFull(number);
        }
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                use.add(number * sources.pageBytes() + page.start(entry), page.chunkId(entry), page.length(entry));
            }
        }
    }

    private @Nullable ContainerLayout layout(long container) {
        if (closed) {
            return null;
        }
        try {
            return ContainerLayout.of(sources.containers().frameTable(container));
        } catch (IOException e) {
            log.warn("container {} is left out of promotion: {}", container, e.getMessage());
            return null;
        }
    }

    /** The requests worth their place, and how they get there. */
    private final class Plan {
        private final RecipeRequests requests;
        private final BitSet chosen = new BitSet();

        Plan(RecipeRequests requests) {
            this.requests = requests;
        }

        void run() throws IOException {
            choose();
            for (int request = chosen.nextSetBit(0); request >= 0; request = chosen.nextSetBit(request + 1)) {
                awaitIdleDisk();
                if (!promotion.promotesByRecipe()) {
                    throw new Stopped("nothing is to be promoted any more");
                }
                // Requests of two visits to a container may want the same chunks.
                if (missingBytes(request) > 0) {
                    promote(request);
                }
            }
        }

        private void choose() throws IOException {
            long free = admission.freeBytes();
            for (int request : requests.bestFirst()) {
                if (closed) {
                    throw new Stopped("the volume is being closed");
                }
                long bytes = missingBytes(request);
                if (bytes > 0 && (bytes <= free || isWorthAnothersPlace(request))) {
                    chosen.set(request);
                    free = Math.max(0, free - bytes);
                }
            }
        }

        /** Bytes wanted by a request that are not on the SSD. */
        private long missingBytes(int request) {
            long bytes = 0;
            for (int i = requests.firstChunk(request); i < requests.firstChunk(request + 1); i++) {
                bytes += promotion.contains(requests.chunkId(i)) ? 0 : requests.length(i);
            }
            return bytes;
        }

        private boolean isWorthAnothersPlace(int request) throws IOException {
            int fewest = Integer.MAX_VALUE;
            int longest = 0;
            for (int i = requests.firstChunk(request); i < requests.firstChunk(request + 1); i++) {
                fewest = Math.min(fewest, sources.counts().count(requests.chunkId(i)));
                longest = Math.max(longest, requests.length(i));
            }
            return admission.displaces(promotion.rank(fewest, longest, requests.saving(request)));
        }

        /** Reads what a request wants, in the one or two reads of the disk that a restore would make, and offers it. */
        private void promote(int request) throws IOException {
            int from = requests.firstChunk(request);
            int[] frames = new int[requests.firstChunk(request + 1) - from];
            int count = 0;
            for (int i = from; i < requests.firstChunk(request + 1); i++) {
                int frame = sources.containers().frameOf(requests.chunkId(i));
                if (count == 0 || frames[count - 1] != frame) {
                    frames[count++] = frame;
                }
            }
            Offers offers = new Offers(requests, request);
            sources.containers()
                    .readFrames(requests.container(request), frames, count, RecipeUse.MAX_GAP_BYTES, offers);
            offers.throwIfFailed();
        }
    }

    /** Offers a request's chunks as their frames come. */
    private final class Offers implements FrameConsumer {
        private final RecipeRequests requests;
        private final int request;
        /** The next chunk to offer: frames come in the order of their slots. */
        private int next;

        private @Nullable IOException failure;

        Offers(RecipeRequests requests, int request) {
            this.requests = requests;
            this.request = request;
            next = requests.firstChunk(request);
        }

        @Override
        public void frame(int frame, Frame contents) {
            int end = contents.firstSlot() + contents.count();
            while (failure == null
                    && next < requests.firstChunk(request + 1)
                    && ChunkId.slot(requests.chunkId(next)) < end) {
                try {
                    offer(requests.chunkId(next++), contents);
                } catch (IOException e) {
                    failure = e;
                }
            }
        }

        @Override
        public void damaged(int frame, IOException e) {
            failure = e;
        }

        private void offer(long chunkId, Frame contents) throws IOException {
            int slot = ChunkId.slot(chunkId);
            int count = sources.counts().count(chunkId);
            if (count == 0) {
                // Nothing refers to it any more.
                return;
            }
            for (int retry = 0; retry < MAX_RETRIES; retry++) {
                OfferAnswer answer = promotion.offerForRecipe(
                        chunkId,
                        contents.check(slot),
                        count,
                        requests.saving(request),
                        contents.data(),
                        contents.offset(slot),
                        contents.length(slot));
                if (answer == OfferAnswer.UNAVAILABLE) {
                    throw new Stopped("no SSD takes anything");
                }
                if (answer != OfferAnswer.QUEUE_FULL) {
                    return;
                }
                if (!pause(RETRY_MILLIS)) {
                    throw new Stopped("the volume is being closed");
                }
            }
            throw new Stopped("too much is on its way to the SSD");
        }

        void throwIfFailed() throws IOException {
            if (failure != null) {
                throw failure;
            }
        }
    }

    /** Waits until the disk was not used for a while; not at all if it was not used since the last call. */
    private void awaitIdleDisk() throws Stopped {
        long before = sources.diskUse().getAsLong();
        while (before != lastDiskUse) {
            lastDiskUse = before;
            if (!pause(IDLE_MILLIS)) {
                throw new Stopped("the volume is being closed");
            }
            before = sources.diskUse().getAsLong();
        }
    }

    /** Stops the background work. Idempotent. */
    @Override
    public void close() {
        closed = true;
        synchronized (pause) {
            pause.notifyAll();
        }
        Uninterruptibles.joinUninterruptibly(worker);
    }
}
