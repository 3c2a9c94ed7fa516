package org.opendedup.sar.container;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;

/** Ciphers of containers, for tests. */
public final class TestCiphers {
    private TestCiphers() {}

    /**
     * Runs the tests of a class in a volume without keys, and again in one with keys. The class has a
     * {@link org.junit.jupiter.params.Parameter} of type {@link ContainerCipher}.
     */
    @ParameterizedClass(name = "{0}")
    @MethodSource("org.opendedup.sar.container.TestCiphers#all")
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    public @interface PlainAndEncrypted {}

    static List<Named<ContainerCipher>> all() {
        return List.of(
                Named.of("plain", ContainerCipher.NONE),
                Named.of("encrypted", ContainerCipher.of(keys(1, AeadCipher.AES_256_GCM))));
    }

    /** Returns the keys of a volume that has this number. */
    public static VolumeKeys keys(int volume, AeadCipher cipher) {
        byte[] master = new byte[VolumeKeys.KEY_BYTES];
        master[0] = 7;
        return new VolumeKeys(master, new UUID(0x5a52, volume), cipher);
    }

    /** Returns a cipher whose key salts are counted from {@code first} on. */
    public static ContainerCipher counting(VolumeKeys keys, long first) {
        long[] next = {first};
        LongSupplier salts = () -> next[0]++;
        return ContainerCipher.of(keys, salts);
    }

    /** Makes the checksum of the frame at {@code from} right, as somebody does who knows the format. */
    public static void putChecksum(byte[] container, int from) {
        ByteBuffer bytes = ByteBuffer.wrap(container).order(ByteOrder.LITTLE_ENDIAN);
        int end = from + FrameFormat.HEADER_BYTES + bytes.getInt(from + 28) + bytes.getInt(from + 36);
        end += bytes.getShort(from + 6);
        CRC32C crc = new CRC32C();
        crc.update(container, from, end - from);
        bytes.putInt(end, (int) crc.getValue());
    }
}
