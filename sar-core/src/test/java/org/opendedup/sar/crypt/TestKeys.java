package org.opendedup.sar.crypt;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/** Keys of encrypted volumes of tests. */
public final class TestKeys {
    private TestKeys() {}

    /** Keys that are the same each time. */
    public static VolumeKeys of(int master) {
        byte[] bytes = ByteBuffer.allocate(VolumeKeys.KEY_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(master)
                .array();
        return new VolumeKeys(bytes, new UUID(0x5a, master), AeadCipher.AES_256_GCM);
    }
}
