package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.tier.FileExplanation;
import org.opendedup.sar.tier.FileExplanation.Chunk;
import org.opendedup.sar.tier.FileExplanation.ChunkVisitor;
import org.opendedup.sar.tier.TierSettings;

/**
 * The daemon's side of {@code sdfscli VOLUME sar}: the control command {@value #COMMAND}, whose argument {@code action} says
 * what is to be done. Nothing here waits for a demotion; its progress is part of the status.
 */
final class SarControl {
    static final String COMMAND = "sar";

    static final String STATUS = "status";
    static final String SET = "set";
    static final String DEMOTE = "demote";
    static final String DETACH = "detach";
    static final String ATTACH = "attach";
    static final String EXPLAIN = "explain";
    static final String CHUNKS = "chunks";

    /** A chunk takes about 110 bytes of a reply, which has at most {@value MessageChannel#LINE_BYTES_MAX}. */
    private static final int CHUNKS_PER_REPLY = 400;

    private final SarAdministration sar;
    private final Explainer explainer;

    /** See {@link MountService.MountedVolume#explain}. */
    @FunctionalInterface
    interface Explainer {
        FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException;
    }

    SarControl(SarAdministration sar, Explainer explainer) {
        this.sar = sar;
        this.explainer = explainer;
    }

    /** @throws IOException with a message for who asked */
    Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        try {
            return answer(arguments.text("action"), arguments);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
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
                return ExplanationReport.of(explainer.explain(path, 0, chunk -> true));
            }
            case CHUNKS -> {
                return chunks(arguments);
            }
            case DEMOTE -> demote(arguments);
            case DETACH -> {
                arguments.end();
                sar.detach();
            }
            case ATTACH -> {
                String location = arguments.textIfAny("location");
                arguments.end();
                sar.attach(location == null ? null : Path.of(location));
            }
            default -> throw new IOException("the daemon knows no action '" + action + "' of sar");
        }
        return SarReport.of(sar.status());
    }

    private Map<String, Object> set(ControlArguments arguments) throws IOException {
        Map<String, Object> changes = arguments.object("changes");
        arguments.end();
        TierSettings before = sar.change(changes);
        var result = new LinkedHashMap<String, Object>();
        result.put("before", SarParameters.of(before));
        result.put("after", SarParameters.of(SarParameters.change(before, changes)));
        result.put("status", SarReport.of(sar.status()));
        return result;
    }

    /** Some chunks of a file, and where to go on; -1: these were the last. */
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
        return Map.of("chunks", chunks.stream().map(ExplanationReport::of).toList(), "next", next);
    }

    /** Without a number of references: everything. */
    private void demote(ControlArguments arguments) throws IOException {
        long below = arguments.number("below", Long.MAX_VALUE);
        arguments.end();
        if (below == Long.MAX_VALUE) {
            sar.demoteAll();
        } else {
            sar.demoteBelow(Math.toIntExact(Math.min(below, Integer.MAX_VALUE)));
        }
    }
}
