package org.opendedup.sar.sim.block;

import java.util.List;

/**
 * The published statistics of a trace that a generator needs.
 *
 * @param name name of the trace that it imitates
 * @param fileSystemBytes size of the file system over which its blocks are spread
 * @param requestsPerDay requests of one day, as are the next two (Mao et al., POD, IPDPS 2014)
 * @param writeShare share of the requests that write
 * @param meanKibibytes mean size of a request
 * @param distinctReadBlocks distinct blocks of one week, as a share of all blocks read (Koller and Rangaswami, FAST'10)
 * @param distinctReadContents likewise, distinct contents
 * @param distinctWrittenBlocks likewise, of all blocks written
 * @param removedShare share of blocks that deduplication removes (SAR paper §2.2)
 * @param fitted parameters that are not published
 * @param window part of the eighth day that the SAR paper replays (Table I)
 * @param ssdSizes SSD sizes of the SAR paper's replays (Table II)
 */
public record TraceProfile(
        String name,
        long fileSystemBytes,
        int requestsPerDay,
        double writeShare,
        double meanKibibytes,
        double distinctReadBlocks,
        double distinctReadContents,
        double distinctWrittenBlocks,
        double removedShare,
        Fitted fitted,
        String window,
        List<String> ssdSizes) {

    /** The only trace for which the sharing of contents was published. */
    static final String MAIL = "mail";

    /**
     * Unpublished parameters, chosen so that the published statistics are reached; see docs/SIMULATOR.md.
     *
     * @param initialCopies share of the blocks that share their content with others when the trace begins
     * @param knownWrites share of the blocks written whose content is not new
     * @param pieceBlocks mean number of blocks that were written together and are shared together
     */
    public record Fitted(double initialCopies, double knownWrites, double pieceBlocks) {}

    private static final long GB = 1_000_000_000;

    /** The three traces that the SAR paper replays. */
    public static final List<TraceProfile> ALL = List.of(
            new TraceProfile(
                    "web-vm",
                    70 * GB,
                    154_105,
                    0.698,
                    14.8,
                    1.27 / 3.40,
                    1.09 / 3.40,
                    0.86 / 11.46,
                    0.534,
                    new Fitted(0.34, 0.60, 3),
                    "1:30-12:25",
                    List.of("100MB", "500MB", "2GB")),
            new TraceProfile(
                    "homes",
                    500 * GB,
                    64_819,
                    0.805,
                    13.1,
                    2.40 / 5.79,
                    1.99 / 5.79,
                    4.33 / 148.86,
                    0.345,
                    new Fitted(0.335, 0.40, 2),
                    "15:50-19:10",
                    List.of("100MB", "500MB", "2GB")),
            new TraceProfile(
                    "mail",
                    470 * GB,
                    328_145,
                    0.785,
                    40.8,
                    29.24 / 62.00,
                    28.82 / 62.00,
                    4.18 / 482.10,
                    0.927,
                    new Fitted(0.30, 0.945, 3),
                    "18:40-23:45",
                    List.of("1GB", "4GB", "8GB")));

    /** @throws IllegalArgumentException if there is no such profile; lists the names */
    public static TraceProfile named(String name) {
        return ALL.stream()
                .filter(profile -> profile.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no profile '" + name + "'; the profiles are "
                        + String.join(", ", ALL.stream().map(TraceProfile::name).toList())));
    }
}
