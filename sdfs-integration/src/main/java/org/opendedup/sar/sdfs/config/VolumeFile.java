package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.io.AtomicFile;

/**
 * The SDFS volume XML. Element and attribute names are SDFS's where the meaning is the same; {@code sar} and {@code restore}
 * are ours. Read strictly: a DOCTYPE, an unknown element or attribute, a missing one or a wrong type is refused with file,
 * line and name, because a setting that is silently ignored is one that an administrator relies on in vain. Never holds a
 * key or password.
 */
public final class VolumeFile {
    static final String ROOT = "subsystem-config";
    static final int VERSION = 1;

    /** A volume file has about 2 KB; a megabyte is something else. */
    private static final long FILE_BYTES_MAX = 1 << 20;

    private VolumeFile() {}

    /**
     * Reads a volume file.
     *
     * @throws VolumeFileException if it is none, naming file and line
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
     * Writes a volume file: after a crash, the old one or the new one is there, whole.
     *
     * @throws IOException if it cannot be written; the old file then stands
     */
    public static void write(Path file, VolumeDefinition definition) throws IOException {
        AtomicFile.write(file, VolumeFileWriter.text(definition).getBytes(StandardCharsets.UTF_8));
    }
}
