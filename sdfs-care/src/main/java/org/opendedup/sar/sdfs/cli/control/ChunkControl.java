package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.jmx.ChunkFigures;

/** The daemon's side of {@code sdfscli VOLUME chunk}. */
public final class ChunkControl {
    public static final String COMMAND = "chunk";

    /** The argument: the digits of a fingerprint. */
    public static final String FINGERPRINT = "fingerprint";

    /** The answer: a list of {@link ChunkFigures}. */
    public static final String CHUNKS = "chunks";

    private final ChunkFigures.Search search;

    public ChunkControl(ChunkFigures.Search search) {
        this.search = search;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String digits = arguments.text(FINGERPRINT);
        arguments.end();
        List<ChunkFigures> found =
                search.find(digits).stream().map(ChunkFigures::of).toList();
        return Map.of(CHUNKS, found);
    }
}
