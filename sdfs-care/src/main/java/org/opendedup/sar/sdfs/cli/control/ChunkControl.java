package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.jmx.ChunkFigures;
import org.opendedup.sar.volume.care.ChunkSearch;

/** The daemon's side of {@code sdfscli VOLUME chunk}. */
public final class ChunkControl {
    public static final String COMMAND = "chunk";

    /** The argument: the digits of a fingerprint. */
    public static final String FINGERPRINT = "fingerprint";

    /** The answer: a list of {@link ChunkFigures}. */
    public static final String CHUNKS = "chunks";

    /** The answer: whether there are more than these. */
    public static final String MORE = "more";

    private final ChunkFigures.Search search;

    public ChunkControl(ChunkFigures.Search search) {
        this.search = search;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String digits = arguments.text(FINGERPRINT);
        arguments.end();
        ChunkSearch.Found found = search.find(digits);
        return Map.of(
                CHUNKS, found.chunks().stream().map(ChunkFigures::of).toList(),
                MORE, found.areMore());
    }
}
