package org.opendedup.sar.container.format;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.Sealer;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * Encrypts and authenticates the containers of a volume that has keys, and does neither in another volume. Encrypted
 * are chunk lists and payloads; headers, footers and frame tables can be read, and are authenticated with them. Safe
 * for several threads.
 *
 * <p>Each {@link ContainerWriting} has a key of its own, from the container's identity and a random <em>key salt</em>:
 * a writing that a crash cut off is made again with the same generation and other bytes. Tag and key salt follow what
 * is encrypted.
 */
public abstract class ContainerCipher {
    /** The cipher of a volume without keys: encrypts nothing. */
    public static final ContainerCipher NONE = new None();

    /** Bytes that follow what is encrypted: the tag, and the key salt. */
    static final int TAG_BYTES = Sealer.TAG_BYTES + Long.BYTES;

    /** What is wrong with bytes whose checksum holds and whose tag does not. */
    static final String CHANGED = "one that was changed or exchanged: its checksum holds, and its tag does not";

    private ContainerCipher() {}

    /** Returns the cipher for a volume with these keys; null: {@link #NONE}. */
    public static ContainerCipher of(@Nullable VolumeKeys keys) {
        return keys == null ? NONE : of(keys, new SecureRandom()::nextLong);
    }

    /** As the other, with key salts from the caller: the same bytes then have the same encrypted form. */
    public static ContainerCipher of(VolumeKeys keys, LongSupplier keySalts) {
        return new Keyed(keys, keySalts);
    }

    /** Returns the bytes that follow what is encrypted: {@value #TAG_BYTES} or 0. */
    public abstract int tagBytes();

    /**
     * Returns what is wrong with a frame or container that is encrypted, or is not; null if this cipher writes such.
     */
    abstract @Nullable String problemOf(boolean isEncrypted);

    /** Returns a key that no other writing has. */
    abstract Key newKey(ContainerIdentity identity);

    /**
     * Decrypts {@code count} bytes from {@code from} on; tag and key salt follow them. The target may be the source, at
     * the same offset.
     *
     * @param number the parameters to {@code from} are those of {@link Key#encrypt}
     * @return false if the tag is wrong; the target's bytes are then undefined
     */
    abstract boolean open(
            ContainerIdentity identity,
            long number,
            byte[] associated,
            byte[] bytes,
            int associatedFrom,
            int from,
            int count,
            byte[] target,
            int targetFrom);

    /**
     * Returns encrypted bytes as they are without asking their tag: each damaged byte is another one. Only for who has
     * another proof of what they are.
     *
     * @param identity of the writing that they may be of
     * @param count bytes with tag and key salt
     * @param keySalt as {@link #keySalt} reads it there, or in another frame of the writing
     */
    public abstract byte[] readDamaged(
            ContainerIdentity identity, long number, byte[] bytes, int from, int count, long keySalt);

    /** Returns the key salt at the end of encrypted bytes that may be damaged; 0 if nothing is encrypted. */
    public abstract long keySalt(byte[] bytes, int from, int count);

    /** What encrypts one writing. */
    abstract static class Key {
        /**
         * Encrypts all bytes of {@code out} from {@code from} on, and appends tag and key salt.
         *
         * @param number never used before with this key
         * @param associated authenticated with the bytes, and so are those of {@code out} from {@code associatedFrom}
         *     to {@code from}
         */
        abstract void encrypt(long number, byte[] associated, Bytes out, int associatedFrom, int from);
    }

    private static final class None extends ContainerCipher {
        private static final Key KEY = new Key() {
            @Override
            void encrypt(long number, byte[] associated, Bytes out, int associatedFrom, int from) {
                // The bytes stay as they are.
            }
        };

        @Override
        public int tagBytes() {
            return 0;
        }

        @Override
        @Nullable
        String problemOf(boolean isEncrypted) {
            return isEncrypted ? "an encrypted one, and the volume was opened without its key" : null;
        }

        @Override
        Key newKey(ContainerIdentity identity) {
            return KEY;
        }

        @Override
        boolean open(
                ContainerIdentity identity,
                long number,
                byte[] associated,
                byte[] bytes,
                int associatedFrom,
                int from,
                int count,
                byte[] target,
                int targetFrom) {
            return false;
        }

        @Override
        public byte[] readDamaged(
                ContainerIdentity identity, long number, byte[] bytes, int from, int count, long keySalt) {
            return Arrays.copyOfRange(bytes, from, from + Math.max(0, count));
        }

        @Override
        public long keySalt(byte[] bytes, int from, int count) {
            return 0;
        }
    }

    private static final class Keyed extends ContainerCipher {
        private final VolumeKeys keys;
        private final LongSupplier keySalts;

        Keyed(VolumeKeys keys, LongSupplier keySalts) {
            this.keys = keys;
            this.keySalts = keySalts;
        }

        @Override
        public int tagBytes() {
            return TAG_BYTES;
        }

        @Override
        @Nullable
        String problemOf(boolean isEncrypted) {
            return isEncrypted ? null : "one that is not encrypted: it was changed or exchanged";
        }

        @Override
        Key newKey(ContainerIdentity identity) {
            long keySalt = keySalts.getAsLong();
            Sealer sealer = sealer(identity, keySalt);
            return new Key() {
                @Override
                void encrypt(long number, byte[] associated, Bytes out, int associatedFrom, int from) {
                    int count = out.length() - from;
                    out.reserve(TAG_BYTES);
                    byte[] all = allAssociated(associated, out.array(), associatedFrom, from, keySalt);
                    sealer.seal(number, all, out.array(), from, count);
                    out.advance(Sealer.TAG_BYTES);
                    out.putLong(keySalt);
                }
            };
        }

        @Override
        boolean open(
                ContainerIdentity identity,
                long number,
                byte[] associated,
                byte[] bytes,
                int associatedFrom,
                int from,
                int count,
                byte[] target,
                int targetFrom) {
            long keySalt = keySalt(bytes, from, count + TAG_BYTES);
            byte[] all = allAssociated(associated, bytes, associatedFrom, from, keySalt);
            return sealer(identity, keySalt).open(number, all, bytes, from, count, target, targetFrom);
        }

        private static byte[] allAssociated(byte[] first, byte[] bytes, int from, int to, long keySalt) {
            Bytes all = new Bytes(first.length + to - from + Long.BYTES);
            all.putBytes(first, 0, first.length);
            all.putBytes(bytes, from, to - from);
            all.putLong(keySalt);
            return all.array();
        }

        @Override
        public byte[] readDamaged(
                ContainerIdentity identity, long number, byte[] bytes, int from, int count, long keySalt) {
            byte[] opened = new byte[Math.max(0, count - TAG_BYTES)];
            sealer(identity, keySalt).openDamaged(number, bytes, from, opened.length, opened, 0);
            return opened;
        }

        @Override
        public long keySalt(byte[] bytes, int from, int count) {
            return count < TAG_BYTES ? 0 : Bytes.getLong(bytes, from + count - Long.BYTES);
        }

        private Sealer sealer(ContainerIdentity identity, long keySalt) {
            Bytes context = new Bytes(3 * Long.BYTES + Integer.BYTES);
            context.putLong(identity.container());
            context.putInt(identity.generation());
            context.putLong(identity.salt());
            context.putLong(keySalt);
            return keys.sealer(Purpose.CONTAINERS, context.array());
        }
    }
}
