package org.opendedup.sar.sdfs.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;

/**
 * A copy of a volume's file that lies in a location of the volume: where the volume file is lost, the copy has the
 * settings. There is one in the data location and, unless the volume lies in an object store, one in the metadata
 * location. A comment at its end says in which, and of which volume. It also remembers how the volume's files are cut
 * into chunks.
 *
 * @param volume the volume
 * @param isOfData whether it was made for the data location, not for the metadata location
 */
public record VolumeFileCopy(VolumeDefinition definition, UUID volume, boolean isOfData) {
    /** Name of the file in the locations. */
    public static final String NAME = "volume-cfg.xml";

    private static final Pattern COMMENT =
            Pattern.compile("<!-- copy in the (data|metadata) location of volume ([0-9a-f-]{36}) -->\\s*$");

    /**
     * Writes the copies that are missing or differ; they are durable when it returns. Does nothing if the data location
     * has no volume. Of a volume in an object store, only the data location has one: the folder of the metadata is
     * exchanged as a whole.
     */
    public static void write(VolumeDefinition definition) throws IOException {
        VolumeConfig.Locations locations = definition.config().locations();
        UUID volume = volumeIn(locations.data());
        if (volume != null) {
            new VolumeFileCopy(definition, volume, true).writeTo(locations.data());
            if (definition.store() == null) {
                new VolumeFileCopy(definition, volume, false).writeTo(locations.metadata());
            }
        }
    }

    /** Returns the volume whose data a folder has; null if it has none. */
    public static @Nullable UUID volumeIn(Path data) throws IOException {
        return Files.isDirectory(data) ? VolumeIdentity.volume(FileDirectory.open(data)) : null;
    }

    private void writeTo(Path location) throws IOException {
        byte[] text = (VolumeFile.text(definition) + "<!-- copy in the " + (isOfData ? "data" : "metadata")
                        + " location of volume " + volume + " -->\n")
                .getBytes(UTF_8);
        Path copy = location.resolve(NAME);
        if (Files.exists(copy) && Files.size(copy) == text.length && Arrays.equals(Files.readAllBytes(copy), text)) {
            return;
        }
        AtomicFile.write(copy, text);
    }

    /**
     * Reads the copy in a folder; empty if there is none.
     *
     * @throws VolumeFileException if it is damaged
     */
    public static Optional<VolumeFileCopy> read(Path location) throws IOException {
        Path file = location.resolve(NAME);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        VolumeDefinition definition = VolumeFile.read(file);
        Matcher comment = COMMENT.matcher(Files.readString(file));
        if (!comment.find()) {
            throw new VolumeFileException(file, 0, "its end does not say of which volume it is", null);
        }
        return Optional.of(new VolumeFileCopy(
                definition, UUID.fromString(comment.group(2)), comment.group(1).equals("data")));
    }
}
