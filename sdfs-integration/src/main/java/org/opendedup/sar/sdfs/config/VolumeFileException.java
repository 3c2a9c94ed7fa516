package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A volume's XML file is not one: the message names file, line and what is wrong. */
public final class VolumeFileException extends IOException {
    private static final long serialVersionUID = 1;

    VolumeFileException(Path file, int line, String problem, @Nullable Throwable cause) {
        super(file + (line > 0 ? ", line " + line : "") + ": " + problem, cause);
    }
}
