package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.io.AtomicFile;

/**
 * Reads and writes the SDFS volume XML. Element and attribute names are those of SDFS where the meaning is the same;
 * {@code sar} and {@code restore} exist only here. Reading is strict: a DOCTYPE, an unknown or missing element or
 * attribute, or a wrong type is refused with file, line and name. The reason: an administrator would rely on a setting
 * that is silently ignored. The file never holds a key or password.
 */
public final class VolumeFile {
    /**
     * Largest accepted file, in bytes. A volume file has about 2 KB; a file of more than one megabyte is something
     * else.
     */
    private static final long FILE_BYTES_MAX = 1 << 20;

    private VolumeFile() {}

    /**
     * Reads a volume file.
     *
     * @throws VolumeFileException if the file is not a valid volume file; the message names file and line
     * @throws IOException if it cannot be read
     */
    public static VolumeDefinition read(Path file) throws IOException {
        if (Files.size(file) > FILE_BYTES_MAX) {
            throw new VolumeFileException(file, 0, "larger than " + ByteSize.exact(FILE_BYTES_MAX), null);
        }
        String text;
        try {
            text = Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new VolumeFileException(file, 0, "not UTF-8", e);
        }
        return VolumeFileReader.read(file, text);
    }

    /**
     * Writes a volume file atomically: after a crash, either the old or the new file is there, complete.
     *
     * @throws IOException if it cannot be written; the old file then stays
     */
    public static void write(Path file, VolumeDefinition definition) throws IOException {
        AtomicFile.write(file, VolumeFileWriter.text(definition).getBytes(StandardCharsets.UTF_8));
    }
}
