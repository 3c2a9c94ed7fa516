package org.opendedup.sar.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.DeterministicSealer;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * The master key, wrapped under one secret: Argon2id makes two keys of it, under which AES-SIV seals the master key,
 * the use for which RFC 5297 was written. What the header says about the volume and the slot is authenticated with it.
 * Immutable.
 *
 * @param number place of the slot, 0 to 7; it stays the same
 * @param kind where its secret came from
 * @param label what the administrator calls it; up to {@value #MOST_LABEL_BYTES} bytes in UTF-8
 * @param made when it was made, in whole seconds
 * @param cost of trying a secret
 * @param salt random bytes, different in each slot ever made
 * @param wrapped the sealed master key
 */
public record KeySlot(
        int number, Secret.Kind kind, String label, Instant made, Argon2Cost cost, byte[] salt, byte[] wrapped) {
    /** Slots that a header has at most. */
    public static final int MOST = 8;

    static final int SALT_BYTES = 16;
    /** Bytes that Argon2id derives: the two keys of AES-SIV. */
    static final int KEY_BYTES = 2 * VolumeKeys.KEY_BYTES;

    private static final int MOST_LABEL_BYTES = 64;
    private static final int WRAPPED_BYTES = VolumeKeys.KEY_BYTES + DeterministicSealer.OVERHEAD_BYTES;

    /** Number, kind, length of the label, time, salt, three parts of the cost. */
    private static final int FIXED_BYTES = 3 + Long.BYTES + SALT_BYTES + 2 * Integer.BYTES + 1;

    /** @throws IllegalArgumentException if the number or the label is not allowed */
    public KeySlot {
        if (number < 0 || number >= MOST) {
            throw new IllegalArgumentException("slots have the numbers 0 to " + (MOST - 1) + ", not " + number);
        }
        if (label.getBytes(UTF_8).length > MOST_LABEL_BYTES || label.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "a label has up to " + MOST_LABEL_BYTES + " bytes in UTF-8, and no control characters");
        }
    }

    /**
     * Wraps a master key.
     *
     * @param identity what the header says about the volume
     * @throws IOException if the heap is too small for the cost
     */
    static KeySlot wrap(
            byte[] identity, int number, String label, Instant now, Argon2Cost cost, Secret secret, byte[] master)
            throws IOException {
        byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        var open =
                new KeySlot(number, secret.kind(), label, now.truncatedTo(ChronoUnit.SECONDS), cost, salt, new byte[0]);
        byte[] wrapped = open.sealer(secret).seal(open.associated(identity), master);
        return new KeySlot(number, open.kind, label, open.made, cost, salt, wrapped);
    }

    /** Returns the master key; null if this is not the secret of this slot. */
    byte @Nullable [] unwrap(byte[] identity, Secret secret) throws IOException {
        return sealer(secret).open(associated(identity), wrapped, 0);
    }

    private DeterministicSealer sealer(Secret secret) throws IOException {
        byte[] keys = cost.derive(secret.bytes(), salt, KEY_BYTES);
        try {
            return new DeterministicSealer(keys);
        } finally {
            Arrays.fill(keys, (byte) 0);
        }
    }

    private byte[] associated(byte[] identity) {
        ByteBuffer bytes =
                ByteBuffer.allocate(identity.length + length() - WRAPPED_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        writeFields(bytes.put(identity));
        return bytes.array();
    }

    int length() {
        return FIXED_BYTES + label.getBytes(UTF_8).length + WRAPPED_BYTES;
    }

    void write(ByteBuffer target) {
        writeFields(target);
        target.put(wrapped);
    }

    private void writeFields(ByteBuffer target) {
        byte[] name = label.getBytes(UTF_8);
        target.put((byte) number).put((byte) kind.ordinal()).put((byte) name.length);
        target.put(name).putLong(made.getEpochSecond()).put(salt);
        target.putInt(cost.memoryKib()).putInt(cost.passes()).put((byte) cost.lanes());
    }

    /**
     * Reads a slot.
     *
     * @throws RuntimeException if the bytes are not those of a slot
     */
    static KeySlot read(ByteBuffer source) throws CharacterCodingException {
        int number = source.get();
        Secret.Kind kind = Secret.Kind.values()[source.get()];
        byte[] name = new byte[Byte.toUnsignedInt(source.get())];
        source.get(name);
        String label = UTF_8.newDecoder().decode(ByteBuffer.wrap(name)).toString();
        Instant made = Instant.ofEpochSecond(source.getLong());
        byte[] salt = new byte[SALT_BYTES];
        source.get(salt);
        var cost = new Argon2Cost(source.getInt(), source.getInt(), source.get());
        byte[] wrapped = new byte[WRAPPED_BYTES];
        source.get(wrapped);
        return new KeySlot(number, kind, label, made, cost, salt, wrapped);
    }
}
