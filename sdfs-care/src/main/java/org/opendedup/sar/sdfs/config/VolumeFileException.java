package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Thrown if a volume's XML file is not valid. The message names the file, the line and the problem. */
public final class VolumeFileException extends IOException {
    private static final long serialVersionUID = 1;

    VolumeFileException(Path file, int line, String problem, @Nullable Throwable cause) {
        super(file + (line > 0 ? ", line " + line : "") + ": " + problem, cause);
    }
}
