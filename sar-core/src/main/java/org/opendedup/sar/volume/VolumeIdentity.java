package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/**
 * The file at the data location that names the volume it belongs to. The folder a disk is mounted on exists without the
 * disk too, and is empty: this file tells the two apart, and one volume's disk from another's.
 */
final class VolumeIdentity {
    private static final String NAME = "volume.id";
    private static final int TEXT_BYTES = 36;

    private VolumeIdentity() {}

    static void write(Directory data, UUID volume) throws IOException {
        try (Output file = data.create(NAME)) {
            file.append(ByteBuffer.wrap(volume.toString().getBytes(US_ASCII)));
            file.force();
        }
        data.sync();
    }

    /** @throws IOException if this is not the data of {@code volume}; nothing was touched */
    static void check(Directory data, UUID volume) throws IOException {
        if (!data.exists(NAME)) {
            throw new IOException(
                    "there is no volume's data in " + data + " (no file " + NAME + "); is its disk not mounted?");
        }
        byte[] text = new byte[TEXT_BYTES];
        try (Input file = data.open(NAME)) {
            if (file.length() != TEXT_BYTES) {
                throw new CorruptionException(data + "/" + NAME, 0, TEXT_BYTES + " bytes", file.length() + " bytes");
            }
            file.readFully(0, ByteBuffer.wrap(text));
        }
        String found = new String(text, US_ASCII);
        if (!found.equals(volume.toString())) {
            throw new IOException(
                    "the data in " + data + " belongs to volume " + found + ", the metadata to volume " + volume);
        }
    }
}
