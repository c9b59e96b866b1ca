// Runs sums.comp on Vulkan 1.3's first device.
//
//     crosslane compile sums.comp -p spirv-1.6 -o sums.spv
//     cc vulkan.c -lvulkan -o vulkan && ./vulkan sums.spv
//
// What `crosslane compile sums.comp -p spirv-1.6 --emit reflection` says is named where it is used.

#include "host.h"
#include <stdint.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define LEAST_SUBGROUP_SIZE 4u    /* reflection: vulkan.least_subgroup_size */
#define REQUIRED_SUBGROUP_SIZE 0u /* reflection: vulkan.required_subgroup_size; 0 for null */

static void done(VkResult result, const char *what) { need(result == VK_SUCCESS, what); }

// The promise of the shader about subgroups, which the device must keep.
static void check_subgroups(VkPhysicalDevice physical) {
    VkPhysicalDeviceVulkan13Properties sizes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties usual = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &sizes};
    VkPhysicalDeviceProperties2 all = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &usual, {0}};
    vkGetPhysicalDeviceProperties2(physical, &all);
    uint32_t size = REQUIRED_SUBGROUP_SIZE ? REQUIRED_SUBGROUP_SIZE : usual.subgroupSize;
    need(size >= LEAST_SUBGROUP_SIZE, "subgroups of as many lanes as the shader needs");
    if (REQUIRED_SUBGROUP_SIZE)
        need(size >= sizes.minSubgroupSize && size <= sizes.maxSubgroupSize &&
             sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT, "subgroups of the shader's size");
}

static VkPhysicalDevice first_device(VkInstance instance) {
    uint32_t count = 1;
    VkPhysicalDevice physical;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    need(count == 1 && (result == VK_SUCCESS || result == VK_INCOMPLETE), "a Vulkan device");
    check_subgroups(physical);
    return physical;
}

static uint32_t compute_family(VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t n = 0; n < count; ++n)
        if (families[n].queueFlags & VK_QUEUE_COMPUTE_BIT) return n;
    need(0, "a queue for compute");
    return 0;
}

static VkDevice open_device(VkPhysicalDevice physical, uint32_t family) {
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = family, .queueCount = 1, .pQueuePriorities = &priority};
    // reflection: vulkan.full_subgroups
    VkPhysicalDeviceVulkan13Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                                 .subgroupSizeControl = REQUIRED_SUBGROUP_SIZE != 0,
                                                 .computeFullSubgroups = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features,
                               .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    VkDevice device;
    done(vkCreateDevice(physical, &info, NULL, &device), "a device with full subgroups");
    return device;
}

// One piece of memory that the host sees, for both buffers.
static VkDeviceMemory allocate(VkPhysicalDevice physical, VkDevice device, VkMemoryRequirements need_one) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount && (!(need_one.memoryTypeBits >> type & 1) ||
                                             (memory.memoryTypes[type].propertyFlags & wanted) != wanted)) ++type;
    need(type < memory.memoryTypeCount, "memory that the host sees");
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, 2 * need_one.size, type};
    VkDeviceMemory allocated;
    done(vkAllocateMemory(device, &info, NULL, &allocated), "memory");
    return allocated;
}

static VkBuffer buffer(VkDevice device) {
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer made;
    done(vkCreateBuffer(device, &info, NULL, &made), "a buffer");
    return made;
}

// reflection: buffers, each with its set and binding
static VkDescriptorSetLayout set_layout(VkDevice device) {
    VkDescriptorSetLayoutBinding bindings[2] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    VkDescriptorSetLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .bindingCount = 2, .pBindings = bindings};
    VkDescriptorSetLayout layout;
    done(vkCreateDescriptorSetLayout(device, &info, NULL, &layout), "the layout of the set");
    return layout;
}

static VkDescriptorSet set_of(VkDevice device, VkDescriptorSetLayout layout, const VkBuffer buffers[2]) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
                                            .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    done(vkCreateDescriptorPool(device, &pool_info, NULL, &pool), "a pool of sets");
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, NULL, pool, 1, &layout};
    VkDescriptorSet set;
    done(vkAllocateDescriptorSets(device, &info, &set), "a set");
    for (uint32_t n = 0; n < 2; ++n) {
        VkDescriptorBufferInfo bound = {buffers[n], 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .dstBinding = n,
                                      .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &bound};
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
    return set;
}

static VkPipeline pipeline(VkDevice device, const char *path, VkPipelineLayout layout) {
    size_t size;
    char *words = read_file(path, &size);
    VkShaderModuleCreateInfo module_info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size,
                                            .pCode = (const uint32_t *)words};
    VkShaderModule module;
    done(vkCreateShaderModule(device, &module_info, NULL, &module), "the module");
    free(words);
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = REQUIRED_SUBGROUP_SIZE};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .layout = layout,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = REQUIRED_SUBGROUP_SIZE ? &required : NULL,
                  .flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT, // reflection: full_subgroups
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module,
                  .pName = "main"}}; // reflection: entry_point
    VkPipeline made;
    done(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &made), "the pipeline");
    return made;
}

static void run(VkDevice device, uint32_t family, VkPipeline pipe, VkPipelineLayout layout, VkDescriptorSet set) {
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL, 0, family};
    VkCommandPool pool;
    done(vkCreateCommandPool(device, &pool_info, NULL, &pool), "a pool of commands");
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, pool,
                                        VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands;
    done(vkAllocateCommandBuffers(device, &info, &commands), "commands");
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    done(vkBeginCommandBuffer(commands, &begin), "to begin");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipe);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, GROUPS, 1, 1);
    done(vkEndCommandBuffer(commands), "to end");
    VkQueue queue;
    vkGetDeviceQueue(device, family, 0, &queue);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    done(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "to submit");
    done(vkQueueWaitIdle(queue), "to wait");
}

int main(int argc, char **argv) {
    need(argc == 2, "usage: vulkan sums.spv");
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    done(vkCreateInstance(&info, NULL, &instance), "Vulkan 1.3");
    VkPhysicalDevice physical = first_device(instance);
    uint32_t family = compute_family(physical);
    VkDevice device = open_device(physical, family);

    VkBuffer buffers[2] = {buffer(device), buffer(device)};
    VkMemoryRequirements one;
    vkGetBufferMemoryRequirements(device, buffers[0], &one);
    VkDeviceMemory memory = allocate(physical, device, one);
    for (uint32_t n = 0; n < 2; ++n) done(vkBindBufferMemory(device, buffers[n], memory, n * one.size), "to bind");
    unsigned *x;
    done(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&x), "to map");
    fill(x);

    VkDescriptorSetLayout sets = set_layout(device);
    VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1, .pSetLayouts = &sets};
    VkPipelineLayout layout;
    done(vkCreatePipelineLayout(device, &layout_info, NULL, &layout), "the layout");
    run(device, family, pipeline(device, argv[1], layout), layout, set_of(device, sets, buffers));
    check(x, x + one.size / sizeof *x);
    return 0; // the process's end gives everything back
}
