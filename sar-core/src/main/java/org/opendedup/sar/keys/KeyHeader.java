package org.opendedup.sar.keys;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * What stands between a secret and the keys of a volume: slots, each with the master key under another secret. A change
 * makes a header of the next generation; the master key, and so everything stored, stays as it is. Who changes it needs
 * the master key: a keyed hash over all of it tells a change by others. Immutable.
 *
 * <p>The bytes, little-endian: magic "SARK", version u16, cipher u8, volume 16 bytes as in its text, number of slots
 * u8, generation u64; the slots; keyed hash of all before, 32 bytes; CRC-32C of all before, u32.
 */
public final class KeyHeader {
    /** Name of the file in the locations. */
    public static final String NAME = "volume.keys";

    /** Most bytes of a header: eight slots with the longest labels. */
    static final int MOST_BYTES = 2048;

    private static final byte[] MAGIC = "SARK".getBytes(US_ASCII);
    private static final Pattern AES = Pattern.compile("(?m)^(flags|Features)\\s*:(.*\\s)?aes(\\s.*)?$");
    private static final int VERSION = 1;
    private static final int IDENTITY_BYTES = MAGIC.length + Short.BYTES + 1 + 2 * Long.BYTES;
    private static final int FIXED_BYTES = IDENTITY_BYTES + 1 + Long.BYTES;

    private final UUID volume;
    private final AeadCipher cipher;
    private final long generation;
    private final List<KeySlot> slots;
    private final byte[] bytes;

    private KeyHeader(UUID volume, AeadCipher cipher, long generation, List<KeySlot> slots, byte[] bytes) {
        this.volume = volume;
        this.cipher = cipher;
        this.generation = generation;
        this.slots = List.copyOf(slots);
        this.bytes = bytes;
    }

    /**
     * What a secret opened.
     *
     * @param master the master key; {@link #close} overwrites it
     * @param slot the slot that opened
     * @param keys the keys of the volume
     */
    public record Opened(byte[] master, KeySlot slot, VolumeKeys keys) implements AutoCloseable {
        @Override
        public void close() {
            Arrays.fill(master, (byte) 0);
        }
    }

    /** Returns a random master key; the caller overwrites it. */
    public static byte[] newMaster() {
        byte[] master = new byte[VolumeKeys.KEY_BYTES];
        new SecureRandom().nextBytes(master);
        return master;
    }

    /** Returns the cipher that suits this machine: AES-GCM, unless the kernel lists no instructions for AES. */
    public static AeadCipher cipherOfMachine() throws IOException {
        return cipherFor(Files.readString(Path.of("/proc/cpuinfo")));
    }

    /** @param processors what the kernel lists: {@code flags} on x86, {@code Features} on ARM */
    static AeadCipher cipherFor(String processors) {
        return AES.matcher(processors).find() ? AeadCipher.AES_256_GCM : AeadCipher.CHACHA20_POLY1305;
    }

    /**
     * Makes the first header of a volume, or one in place of copies that are lost.
     *
     * @param master {@value VolumeKeys#KEY_BYTES} random bytes
     * @throws IOException if the heap is too small for the cost
     */
    public static KeyHeader create(
            UUID volume, AeadCipher cipher, byte[] master, String label, Instant now, Argon2Cost cost, Secret secret)
            throws IOException {
        KeySlot slot = KeySlot.wrap(identity(volume, cipher), 0, label, now, cost, secret, master);
        return sealed(volume, cipher, generation(0, now), List.of(slot), master);
    }

    /**
     * Returns the time in milliseconds since 1970, and at least one more than the present generation. So a copy that
     * was lost and comes back is older than what was made meanwhile without knowing it: slots that it still has stay
     * removed.
     */
    private static long generation(long present, Instant now) {
        return Math.max(present + 1, now.toEpochMilli());
    }

    private static KeyHeader sealed(
            UUID volume, AeadCipher cipher, long generation, List<KeySlot> slots, byte[] master) {
        int length = FIXED_BYTES + slots.stream().mapToInt(KeySlot::length).sum();
        ByteBuffer bytes =
                ByteBuffer.allocate(length + KeyedHash.BYTES + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(identity(volume, cipher)).put((byte) slots.size()).putLong(generation);
        slots.forEach(slot -> slot.write(bytes));
        hash(new VolumeKeys(master, volume, cipher), bytes.array(), length, bytes.array(), length);
        bytes.putInt(length + KeyedHash.BYTES, checksum(bytes.array()));
        return new KeyHeader(volume, cipher, generation, slots, bytes.array());
    }

    private static void hash(VolumeKeys keys, byte[] bytes, int length, byte[] target, int offset) {
        keys.keyedHash(Purpose.HEADER).hash(bytes, 0, length, target, offset);
    }

    /** Returns the CRC-32C of all but the last four bytes. */
    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    /** What a slot belongs to: it opens in no other volume, and with no other cipher. */
    private static byte[] identity(UUID volume, AeadCipher cipher) {
        return ByteBuffer.allocate(IDENTITY_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(MAGIC)
                .putShort((short) VERSION)
                .put((byte) cipher.ordinal())
                .order(ByteOrder.BIG_ENDIAN)
                .putLong(volume.getMostSignificantBits())
                .putLong(volume.getLeastSignificantBits())
                .array();
    }

    /**
     * Reads a header. Nothing of it is authenticated yet; memory is allocated for nothing that it says.
     *
     * @throws KeyException if the bytes are not a header, or of another version
     */
    public static KeyHeader read(byte[] bytes) throws KeyException {
        int end = bytes.length - KeyedHash.BYTES - Integer.BYTES;
        if (end < FIXED_BYTES
                || bytes.length > MOST_BYTES
                || !Arrays.equals(bytes, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw damaged("it is no key header");
        }
        ByteBuffer source = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (source.getInt(end + KeyedHash.BYTES) != checksum(bytes)) {
            throw damaged("its checksum is wrong");
        }
        int version =
                Short.toUnsignedInt(source.limit(end).position(MAGIC.length).getShort());
        if (version != VERSION) {
            throw new KeyException(
                    KeyException.Reason.LATER_VERSION,
                    "it has version " + version + ", and this program reads version " + VERSION
                            + "; use the program that wrote it");
        }
        try {
            AeadCipher cipher = AeadCipher.values()[source.get()];
            source.order(ByteOrder.BIG_ENDIAN);
            var volume = new UUID(source.getLong(), source.getLong());
            source.order(ByteOrder.LITTLE_ENDIAN);
            int count = source.get();
            long generation = source.getLong();
            List<KeySlot> slots = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                slots.add(KeySlot.read(source));
            }
            if (count < 1
                    || source.hasRemaining()
                    || slots.stream().map(KeySlot::number).distinct().count() < count) {
                throw malformed("its slots are not as they should be");
            }
            return new KeyHeader(volume, cipher, generation, slots, bytes);
        } catch (CharacterCodingException | RuntimeException e) {
            KeyException malformed = malformed("its fields are not as they should be");
            malformed.initCause(e);
            throw malformed;
        }
    }

    /** No program writes this with a right checksum. */
    private static KeyException malformed(String what) {
        return new KeyException(KeyException.Reason.FORGED, what + ", and its checksum is right");
    }

    private static KeyException damaged(String what) {
        return new KeyException(KeyException.Reason.DAMAGED, what);
    }

    /** Returns the bytes that {@link #read} reads. */
    byte[] bytes() {
        return bytes;
    }

    public UUID volume() {
        return volume;
    }

    /** Returns the cipher of what the volume writes once. */
    public AeadCipher cipher() {
        return cipher;
    }

    /** Returns a number that grows with each change: about the time of it, in milliseconds since 1970. */
    public long generation() {
        return generation;
    }

    /** Returns what it costs to try a secret on all slots: the bytes that are filled. */
    long cost() {
        return slots.stream().mapToLong(slot -> slot.cost().bytes()).sum();
    }

    /** Returns the slots by their numbers. */
    public List<KeySlot> slots() {
        return slots;
    }

    /**
     * Opens the header with a secret: tries each slot, those of the secret's kind first, the cheapest first. Takes the
     * time of a derivation for each slot tried, about a second.
     *
     * @throws KeyException if no slot opens, or the header was changed without the master key
     * @throws IOException if the heap is too small for the cost of a slot
     */
    public Opened open(Secret secret) throws IOException {
        List<KeySlot> order = new ArrayList<>(slots);
        order.sort(Comparator.<KeySlot, Boolean>comparing(slot -> slot.kind() != secret.kind())
                .thenComparingLong(slot -> slot.cost().bytes()));
        for (KeySlot slot : order) {
            byte[] master = slot.unwrap(identity(volume, cipher), secret);
            if (master != null) {
                return new Opened(master, slot, keys(master));
            }
        }
        throw new KeyException(
                KeyException.Reason.WRONG_SECRET,
                "this " + secret.kind() + " opens no slot of the key header, which has " + slots.size()
                        + "; was it typed wrongly, or removed?");
    }

    /**
     * Returns the keys that follow from a master key.
     *
     * @throws KeyException if it is not the one of this header, or the header was changed without it
     */
    public VolumeKeys keys(byte[] master) throws KeyException {
        var keys = new VolumeKeys(master, volume, cipher);
        if (!isAuthentic(keys)) {
            throw forged();
        }
        return keys;
    }

    static KeyException forged() {
        return new KeyException(
                KeyException.Reason.FORGED,
                "the key header was changed by somebody without the master key, or the key is another volume's: its"
                        + " checksum is right, and its keyed hash is wrong. Bring " + NAME
                        + " back from a copy that you trust");
    }

    /** Returns whether the header is as somebody wrote it who had this master key. */
    boolean isAuthentic(byte[] master) {
        return isAuthentic(new VolumeKeys(master, volume, cipher));
    }

    /** Returns whether the header is as somebody wrote it who had the master key of this volume. */
    boolean isAuthentic(VolumeKeys keys) {
        byte[] hash = new byte[KeyedHash.BYTES];
        int length = bytes.length - KeyedHash.BYTES - Integer.BYTES;
        hash(keys, bytes, length, hash, 0);
        return MessageDigest.isEqual(hash, Arrays.copyOfRange(bytes, length, length + KeyedHash.BYTES));
    }

    /**
     * Returns this header with a further slot, at the first free number.
     *
     * @throws IllegalArgumentException if there are eight, or the label is not allowed
     */
    public KeyHeader withSlot(byte[] master, String label, Instant now, Argon2Cost cost, Secret secret)
            throws IOException {
        int number = 0;
        while (hasSlot(number)) {
            number++;
        }
        if (number == KeySlot.MOST) {
            throw new IllegalArgumentException(
                    "all " + KeySlot.MOST + " slots are in use: remove one first, or change it");
        }
        return with(number, label, now, cost, secret, master);
    }

    /**
     * Returns this header with another secret in a slot, which keeps number and label. At no moment is the slot
     * missing.
     *
     * @throws IllegalArgumentException if there is no such slot
     */
    public KeyHeader withSecret(byte[] master, int number, Instant now, Argon2Cost cost, Secret secret)
            throws IOException {
        return with(number, slot(number).label(), now, cost, secret, master);
    }

    private KeyHeader with(int number, String label, Instant now, Argon2Cost cost, Secret secret, byte[] master)
            throws IOException {
        KeySlot made = KeySlot.wrap(identity(volume, cipher), number, label, now, cost, secret, master);
        return next(master, now, all -> {
            all.removeIf(slot -> slot.number() == number);
            all.add(made);
            return all;
        });
    }

    /**
     * Returns this header without a slot.
     *
     * @throws IllegalArgumentException if there is no such slot, or it is the last one: nobody could open the volume
     */
    public KeyHeader withoutSlot(byte[] master, int number, Instant now) {
        KeySlot removed = slot(number);
        if (slots.size() == 1) {
            throw new IllegalArgumentException("slot " + number
                    + " is the only one, and without it nobody could open the volume: add another first, or change it");
        }
        return next(master, now, all -> {
            all.remove(removed);
            return all;
        });
    }

    private KeyHeader next(byte[] master, Instant now, UnaryOperator<List<KeySlot>> change) {
        List<KeySlot> changed = change.apply(new ArrayList<>(slots));
        changed.sort(Comparator.comparing(KeySlot::number));
        return sealed(volume, cipher, generation(generation, now), changed, master);
    }

    private boolean hasSlot(int number) {
        return slots.stream().anyMatch(slot -> slot.number() == number);
    }

    /** @throws IllegalArgumentException if there is no such slot; names those that there are */
    public KeySlot slot(int number) {
        return slots.stream()
                .filter(slot -> slot.number() == number)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no slot " + number + "; there are "
                        + slots.stream().map(KeySlot::number).toList()));
    }
}
