package org.opendedup.sar.sdfs.cli.command;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.volume.config.MemoryPlan;

/** Compares a volume's memory budget with the memory of this machine, or of the container that the process runs in. */
public final class MachineMemory {
    private static final long DEFAULT_BUDGET_BYTES_MAX = 1L << 30;
    private static final long MIB = 1 << 20;

    private MachineMemory() {}

    static long bytes() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    }

    /** Returns the default {@code --memory-budget} of a new volume in bytes, without what its threads need. */
    public static long defaultBudgetBytes() {
        long quarter = bytes() / 4 / MIB * MIB;
        return Math.max(MemoryPlan.MIN_BUDGET_BYTES, Math.min(DEFAULT_BUDGET_BYTES_MAX, quarter));
    }

    /** @throws IllegalArgumentException if the requested budget is larger than the machine's memory */
    public static void check(long budgetBytes) {
        if (budgetBytes > bytes()) {
            throw new IllegalArgumentException("the memory budget is " + ByteSize.exact(budgetBytes)
                    + " and this machine has " + ByteSize.rounded(bytes()));
        }
    }
}
