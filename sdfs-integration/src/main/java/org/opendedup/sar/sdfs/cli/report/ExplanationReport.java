package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.tier.FileExplanation;
import org.opendedup.sar.tier.FileExplanation.Chunk;
import org.opendedup.sar.tier.FileExplanation.DiskWork;
import org.opendedup.sar.tier.FileExplanation.Verdict;

/** Reports as JSON what {@code sar explain} shows of a file. The keys are stable. */
public final class ExplanationReport {
    private ExplanationReport() {}

    public static Map<String, Object> of(FileExplanation explanation) {
        var report = new LinkedHashMap<String, Object>();
        report.put("chunks", explanation.chunks());
        report.put("bytes", explanation.bytes());
        var verdicts = new LinkedHashMap<String, Object>();
        explanation
                .verdicts()
                .forEach((verdict, share) ->
                        verdicts.put(spelling(verdict), Map.of("chunks", share.chunks(), "bytes", share.bytes())));
        report.put("verdicts", verdicts);
        report.put("fromDisk", work(explanation.fromDisk()));
        Map<String, Object> withSsd = work(explanation.withSsd());
        withSsd.put("ssdChunks", explanation.ssdChunks());
        withSsd.put("ssdBytes", explanation.ssdBytes());
        withSsd.put("ssdSeconds", explanation.ssdSeconds());
        report.put("withSsd", withSsd);
        report.put("savedSeconds", explanation.savedSeconds());
        return report;
    }

    public static Map<String, Object> of(Chunk reference) {
        HashChunk chunk = reference.chunk();
        var report = new LinkedHashMap<String, Object>();
        report.put("offset", reference.fileOffset());
        report.put("chunk", ChunkId.toString(chunk.getChunkId()));
        report.put("bytes", chunk.getLength());
        report.put("references", chunk.getCount());
        report.put("runBytes", reference.runBytes());
        report.put("verdict", spelling(reference.verdict()));
        return report;
    }

    private static Map<String, Object> work(DiskWork work) {
        var report = new LinkedHashMap<String, Object>();
        report.put("diskRequests", work.requests());
        report.put("diskBytes", work.bytes());
        report.put("diskSeconds", work.seconds());
        return report;
    }

    private static String spelling(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
