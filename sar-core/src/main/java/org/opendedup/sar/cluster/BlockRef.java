package org.opendedup.sar.cluster;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.objects.ObjectPage;

/**
 * A block as an archive names it.
 *
 * @param shard says on which volume the block is
 * @param hash the SHA-256 of its bytes
 * @param length its length in bytes
 */
record BlockRef(int shard, byte[] hash, int length) {
    /** Bytes of the encoded form: shard:u16 length:u32 hash. */
    static final int BYTES = 2 + 4 + Fingerprints.BYTES;

    /** Most bytes of a block that is read, twice those of the usual shape: what claims more is damaged. */
    private static final int MOST_BYTES = 8 << 20;

    private static final String NAME = "[0-9a-f]{4}-[0-9a-f]{64}";

    /** Begins the names of all blocks. */
    static final String FOLDER = "blocks/";

    static BlockRef of(int shard, byte[] block) {
        return new BlockRef(shard, Sha256.newDigest().digest(block), block.length);
    }

    /** Returns the name of the object: in one of 256 folders, by the upper half of the shard. */
    String objectName() {
        String number = HexFormat.of().toHexDigits((short) shard);
        return FOLDER + number.substring(0, 2) + "/" + number + "-"
                + HexFormat.of().formatHex(hash);
    }

    /** Returns the block that an object is; empty if it is none: cluster folders have nothing else in this place. */
    static Optional<BlockRef> named(ObjectPage.Entry object) {
        String name = object.name().substring(object.name().lastIndexOf('/') + 1);
        return name.matches(NAME) && object.length() <= MOST_BYTES
                ? Optional.of(new BlockRef(
                        HexFormat.fromHexDigits(name, 0, 4), HexFormat.of().parseHex(name, 5, name.length()), (int)
                                object.length()))
                : Optional.empty();
    }

    /** Returns whether these are the block's bytes. */
    boolean isOf(byte[] bytes) {
        return bytes.length == length && Arrays.equals(Sha256.newDigest().digest(bytes), hash);
    }

    /** Returns 64 bits that hardly two blocks have in common. */
    long key() {
        return ByteBuffer.wrap(hash).getLong();
    }

    /**
     * Returns the token of the block's object. It is the same for all who put the block, so two who do it at the same
     * time both succeed.
     */
    UUID token() {
        ByteBuffer bytes = ByteBuffer.wrap(hash, 8, 16);
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    void encode(ByteBuffer target) {
        target.putShort((short) shard).putInt(length).put(hash);
    }

    /** @throws CorruptionException if the block would have a length that none has */
    static BlockRef decode(ByteBuffer source) throws CorruptionException {
        int shard = Short.toUnsignedInt(source.getShort());
        int length = source.getInt();
        if (length < 1 || length > MOST_BYTES) {
            throw new CorruptionException(
                    "the list of an archive", -1, "a block of 1 to " + MOST_BYTES + " bytes", length + " bytes");
        }
        byte[] hash = new byte[Fingerprints.BYTES];
        source.get(hash);
        return new BlockRef(shard, hash, length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BlockRef block
                && block.shard == shard
                && block.length == length
                && Arrays.equals(block.hash, hash);
    }

    @Override
    public int hashCode() {
        return Objects.hash(shard, length, Arrays.hashCode(hash));
    }

    @Override
    public String toString() {
        return objectName();
    }
}
