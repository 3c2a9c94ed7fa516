package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The restore cache policies, with the names that commands use. */
public enum CachePolicy {
    /** Whole containers; evicts the least recently used. */
    LRU("lru", 0),
    /** Belady on the whole recipe, whatever window is set: the best that whole containers can reach. */
    OPT("opt", 0),
    /**
     * Forward assembly in its rolling form (Lillibridge, Eshghi and Bhagwat, FAST '13): of each container read, keeps
     * the chunks that the next bytes of the recipe want, as many bytes as the memory.
     */
    ASSEMBLY("assembly", 1),
    /** The lookahead paper's base design. */
    LOOKAHEAD_BASE("lookahead-base", 0.5),
    /** The lookahead paper's extended design, with its log buffer. */
    LOOKAHEAD_LOG("lookahead-log", 0.5),
    /** The chunks that the window wants, dropped where that costs the fewest reads: see {@link WantedChunksCache}. */
    DEFAULT("default", 16);

    /** Mean size of a chunk, in bytes, in the lookahead paper and with our content-defined chunking. */
    private static final int MEAN_CHUNK_BYTES = 8 << 10;
    /** Counters of the Bloom filter for each container's worth of window. */
    private static final int COUNTERS_PER_CONTAINER = 64;

    private static final int MAX_COUNTERS = 1 << 24;

    private final String label;
    /** Default lookahead window, as a multiple of the cache size: where docs/RESTORE.md measures the fewest reads. */
    private final double windowMemories;

    CachePolicy(String label, double windowMemories) {
        this.label = label;
        this.windowMemories = windowMemories;
    }

    /** Returns the name that commands and reports use. */
    public String label() {
        return label;
    }

    /**
     * Returns the policy of a name.
     *
     * @throws IllegalArgumentException if there is none; the message names the existing policies
     */
    public static CachePolicy of(String label) {
        for (CachePolicy policy : values()) {
            if (policy.label.equals(label)) {
                return policy;
            }
        }
        throw new IllegalArgumentException("'" + label + "' is no restore cache; there are "
                + Arrays.stream(values()).map(CachePolicy::label).collect(Collectors.joining(", ")));
    }

    /** Makes an empty cache for one reader. */
    public ContainerCache make(CacheParameters parameters, ChunkHolder holder) {
        long memory = parameters.memoryBytes();
        var cached = new CachedContainers();
        return switch (this) {
            case LRU -> new WholeContainerCache(cached, new LeastRecentlyUsed(cached), memory, holder);
            case OPT -> new WholeContainerCache(cached, new FarthestReference(cached), memory, holder);
            case ASSEMBLY -> new WantedChunksCache(memory, memory, holder);
            case LOOKAHEAD_BASE ->
                new WholeContainerCache(cached, fewest(cached, references(parameters), parameters), memory, holder);
            case LOOKAHEAD_LOG -> withLog(cached, parameters, holder);
            case DEFAULT -> new WantedChunksCache(memory, windowBytes(parameters), holder);
        };
    }

    private long windowBytes(CacheParameters parameters) {
        int containers = parameters.windowContainers();
        return containers > 0
                ? (long) containers * parameters.containerBytes()
                : (long) (windowMemories * parameters.memoryBytes());
    }

    private ContainerCache withLog(CachedContainers cached, CacheParameters parameters, ChunkHolder holder) {
        ContainerReferences references = references(parameters);
        long logBytes = (long) (parameters.memoryBytes() * parameters.logShare());
        return new LookaheadLogCache(
                cached,
                fewest(cached, references, parameters),
                references,
                new LookaheadLogCache.MemorySplit(parameters.memoryBytes() - logBytes, logBytes),
                parameters.hotThreshold(),
                holder);
    }

    private VictimRule fewest(CachedContainers cached, ContainerReferences references, CacheParameters parameters) {
        return new FewestReferences(cached, references, windowBytes(parameters));
    }

    private ContainerReferences references(CacheParameters parameters) {
        return switch (parameters.counting()) {
            case EXACT -> new ExactReferences();
            case BLOOM -> {
                double chunks = (double) parameters.containerBytes() / MEAN_CHUNK_BYTES;
                long counters = windowBytes(parameters) / parameters.containerBytes() * COUNTERS_PER_CONTAINER;
                yield new BloomReferences(
                        (int) Math.min(counters, MAX_COUNTERS), (int) Math.ceil(chunks * parameters.hotThreshold()));
            }
        };
    }
}
