package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.Chunk;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.sdfs.cli.report.ExplanationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.sdfs.jmx.SarFigures;

/**
 * The daemon's side of {@code sdfscli VOLUME sar}: the control command {@value #COMMAND}, whose argument {@code action}
 * selects the operation. No operation waits for a demotion; the status shows its progress.
 */
public final class SarControl {
    public static final String COMMAND = "sar";

    public static final String STATUS = "status";
    public static final String SET = "set";
    public static final String DEMOTE = "demote";
    public static final String DETACH = "detach";
    public static final String ATTACH = "attach";
    public static final String EXPLAIN = "explain";
    public static final String CHUNKS = "chunks";

    /** Chunks in one reply. A file may have more than memory has room for. */
    private static final int CHUNKS_PER_REPLY = 400;

    private final SarAdministration sar;
    private final Explainer explainer;

    /** Explains what the SSD does for a file; throws if there is no such file. */
    @FunctionalInterface
    public interface Explainer {
        FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException;
    }

    public SarControl(SarAdministration sar, Explainer explainer) {
        this.sar = sar;
        this.explainer = explainer;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        return answer(arguments.text("action"), arguments);
    }

    private Map<String, Object> answer(String action, ControlArguments arguments) throws IOException {
        switch (action) {
            case STATUS -> arguments.end();
            case SET -> {
                return set(arguments);
            }
            case EXPLAIN -> {
                String path = arguments.text("path");
                arguments.end();
                return Json.values(ExplanationReport.of(explainer.explain(path, 0, chunk -> true)));
            }
            case CHUNKS -> {
                return chunks(arguments);
            }
            case DEMOTE -> demote(arguments);
            case DETACH -> {
                arguments.end();
                sar.detach(Way.SDFSCLI);
            }
            case ATTACH -> {
                String location = arguments.textIfAny("location");
                arguments.end();
                sar.attach(Way.SDFSCLI, location == null ? null : Path.of(location));
            }
            default -> throw new IOException("the daemon knows no action '" + action + "' of sar");
        }
        return Json.values(SarFigures.of(sar.status()));
    }

    private Map<String, Object> set(ControlArguments arguments) throws IOException {
        Map<String, Object> changes = arguments.object("changes");
        arguments.end();
        HotSettings before = sar.change(Way.SDFSCLI, changes);
        var result = new LinkedHashMap<String, Object>();
        result.put("before", SarSettings.parameters(before));
        result.put("after", SarSettings.parameters(SarSettings.change(before, changes)));
        result.put("status", Json.values(SarFigures.of(sar.status())));
        return result;
    }

    /** Returns some chunks of a file, and the offset of the next one; -1 if these were the last. */
    private Map<String, Object> chunks(ControlArguments arguments) throws IOException {
        String path = arguments.text("path");
        long from = arguments.number("from", 0);
        arguments.end();
        if (from < 0) {
            throw new IllegalArgumentException("the argument 'from' is " + from + "; it must be at least 0");
        }
        var chunks = new ArrayList<Chunk>();
        explainer.explain(path, from, chunk -> {
            chunks.add(chunk);
            return chunks.size() <= CHUNKS_PER_REPLY;
        });
        long next = -1;
        if (chunks.size() > CHUNKS_PER_REPLY) {
            next = chunks.remove(CHUNKS_PER_REPLY).fileOffset();
        }
        return Map.of("chunks", chunks.stream().map(ExplanationReport.Chunk::of).toList(), "next", next);
    }

    /** Demotes chunks below a number of references; without the number, all chunks. */
    private void demote(ControlArguments arguments) throws IOException {
        long below = arguments.number("below", Long.MAX_VALUE);
        arguments.end();
        if (below == Long.MAX_VALUE) {
            sar.demoteAll(Way.SDFSCLI);
        } else {
            sar.demoteBelow(Way.SDFSCLI, Math.toIntExact(Math.min(below, Integer.MAX_VALUE)));
        }
    }
}
