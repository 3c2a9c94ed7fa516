package org.opendedup.sar.container.format;

/**
 * One writing of a container by one writer: its identity, and in an encrypted volume the key that no other writing has.
 * A writer never encodes two different frames with the same first slot under one writing. Safe for several threads.
 */
public final class ContainerWriting {
    private static final byte[] NOTHING = {};

    private final ContainerCipher cipher;
    private final ContainerIdentity identity;
    private final ContainerCipher.Key key;

    /** @param cipher that of the volume */
    public ContainerWriting(ContainerCipher cipher, ContainerIdentity identity) {
        this.cipher = cipher;
        this.identity = identity;
        key = cipher.newKey(identity);
    }

    public ContainerIdentity identity() {
        return identity;
    }

    /** Returns the bytes that the cipher adds to a frame, or to a directory. */
    int tagBytes() {
        return cipher.tagBytes();
    }

    /** Encrypts what follows a frame's header, which begins at {@code header}, to the end of {@code out}. */
    void encryptFrame(int firstSlot, Bytes out, int header, int content) {
        key.encrypt(firstSlot, NOTHING, out, header, content);
    }

    /**
     * Encrypts the chunk lists of a directory, which begin at {@code lists}, to the end of {@code out}. With a new key,
     * because a directory is made again when its disk failed or was full.
     */
    void encryptLists(long number, byte[] footer, Bytes out, int lists) {
        cipher.newKey(identity).encrypt(number, footer, out, 0, lists);
    }
}
