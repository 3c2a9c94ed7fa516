package org.opendedup.sar.sdfs.fuse.kernel;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/** Converts opcodes to the names of requests, for messages: {@code FUSE_READ} is {@code READ}. */
final class OperationName {
    private static final Map<Integer, String> NAMES = names();

    private OperationName() {}

    static String of(int opcode) {
        return NAMES.getOrDefault(opcode, "request " + opcode);
    }

    /** Returns the constants of {@link Opcode}, which have these names. */
    private static Map<Integer, String> names() {
        Map<Integer, String> names = new TreeMap<>();
        try {
            for (Field constant : Opcode.class.getDeclaredFields()) {
                names.put(constant.getInt(null), constant.getName());
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return Map.copyOf(names);
    }
}
