package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.FileExplanation.Share;
import org.opendedup.sar.hot.FileExplanation.SsdWork;
import org.opendedup.sar.hot.FileExplanation.Verdict;

/** What {@code sar explain} shows of a file. The names are stable. */
public record ExplanationReport(
        long chunks, long bytes, Map<String, Share> verdicts, Work fromDisk, Work withSsd, double savedSeconds) {
    private static final String LINE = "%14s  %-16s %-11s %8s %10s %10s  %s";

    /** Header above the lines of {@link Chunk#line}. */
    public static final String HEADER =
            "\n" + String.format(LINE, "offset", "chunk", "fingerprint", "bytes", "references", "run", "verdict");

    /** Predicted work of the disk, and of the SSD if it has a part of it. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Work(
            long diskRequests,
            long diskBytes,
            double diskSeconds,
            @Nullable Long ssdChunks,
            @Nullable Long ssdRequests,
            @Nullable Long ssdBytes,
            @Nullable Double ssdSeconds,
            double seconds) {
        private String line(String name, String more) {
            return String.format(
                    Locale.ROOT,
                    "  %-12s %8.2f s; %d disk requests, %s, %.2f s%s%n",
                    name,
                    seconds,
                    diskRequests,
                    ByteSize.rounded(diskBytes),
                    diskSeconds,
                    more);
        }
    }

    /** One reference to a chunk; of its fingerprint the first digits, by which {@code sdfscli} finds it. */
    public record Chunk(
            long offset, String chunk, String fingerprint, long bytes, long references, long runBytes, String verdict) {
        public static Chunk of(FileExplanation.Chunk reference) {
            return new Chunk(
                    reference.fileOffset(),
                    ChunkId.toString(reference.chunk().getChunkId()),
                    reference.chunk().getName(),
                    reference.chunk().getLength(),
                    reference.chunk().getCount(),
                    reference.runBytes(),
                    Json.word(reference.verdict()));
        }

        /** Returns a line for people. */
        public String line() {
            return String.format(LINE, offset, chunk, fingerprint, bytes, references, runBytes, verdict);
        }
    }

    public static ExplanationReport of(FileExplanation explanation) {
        Map<String, Share> verdicts = new LinkedHashMap<>();
        explanation.verdicts().forEach((verdict, share) -> verdicts.put(Json.word(verdict), share));
        DiskWork fromDisk = explanation.fromDisk();
        DiskWork withSsd = explanation.withSsd();
        SsdWork fromSsd = explanation.fromSsd();
        return new ExplanationReport(
                explanation.chunks(),
                explanation.bytes(),
                verdicts,
                new Work(
                        fromDisk.requests(),
                        fromDisk.bytes(),
                        fromDisk.seconds(),
                        null,
                        null,
                        null,
                        null,
                        fromDisk.seconds()),
                new Work(
                        withSsd.requests(),
                        withSsd.bytes(),
                        withSsd.seconds(),
                        fromSsd.chunks(),
                        fromSsd.requests(),
                        fromSsd.bytes(),
                        fromSsd.seconds(),
                        explanation.withSsdSeconds()),
                explanation.savedSeconds());
    }

    /** Returns the text for people, without the chunks. */
    public String summary(String path) {
        var text = new StringBuilder();
        text.append(String.format("%s: %d chunks, %s%n%n", Printable.line(path), chunks, ByteSize.rounded(bytes)));
        verdicts.forEach((verdict, share) -> text.append(String.format(
                Locale.ROOT,
                "  %-20s %12d chunks %12s %4.0f %%  %s%n",
                verdict,
                share.chunks(),
                ByteSize.rounded(share.bytes()),
                bytes == 0 ? 0 : 100.0 * share.bytes() / bytes,
                meaning(verdict))));
        text.append(String.format("%nA sequential read with nothing in memory, on a 7200 rpm disk:%n"));
        text.append(fromDisk.line("without SSD", ""));
        text.append(withSsd.line(
                "with SSD",
                String.format(
                        Locale.ROOT,
                        "; beside it %d SSD requests for %d chunks, %.2f s",
                        withSsd.ssdRequests,
                        withSsd.ssdChunks,
                        withSsd.ssdSeconds)));
        text.append(String.format(Locale.ROOT, "  %-12s %8.2f s", "saved", savedSeconds));
        return text.toString();
    }

    private static String meaning(String word) {
        return Arrays.stream(Verdict.values())
                .filter(verdict -> Json.word(verdict).equals(word))
                .map(Verdict::meaning)
                .findFirst()
                .orElse("");
    }
}
