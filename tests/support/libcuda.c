/* CUDA's driver interface on the memory of the processor, for tests. It has one kernel,
   add(a, b, c, n), in tile blocks of 16 elements, or those that a function runs, which is set by
   run_kernels(). It writes each call to a log.

   Settings, by setting(): version, devices, memory, major, fault (what a wait returns after a
   launch), image (what the load of a module returns), launch (what a launch returns), busy (how
   often a stream is not ready). */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status;
typedef struct { char kind; float *a, *b, *c; unsigned n; void *to; const void *from; size_t size;
                 unsigned value; } work;
typedef struct { int count; work items[64]; } graph;

static int version = 13000, devices = 1, major = 9, fault, image, launch_status, busy, launched;
static size_t memory = 1 << 20;
static char log_text[1 << 16];
static size_t log_end;
static graph *captured;
static void *capturing;
static size_t sizes[4096]; static void *blocks[4096]; static int block_count;
static int (*run_kernel)(const char *name, unsigned x, unsigned y, unsigned z, void **parameters);
void run_kernels(void *function) { run_kernel = function; }
size_t bytes_at(void *address) {
  for (int i = 0; i < block_count; i++)
    if (blocks[i] <= address && address < blocks[i] + sizes[i]) return blocks[i] + sizes[i] - address;
  return 0; }

#define LOG(...) (log_end += snprintf(log_text + log_end, sizeof log_text - log_end, __VA_ARGS__))

const char *log_of_calls(void) { return log_text; }
void clear_log(void) { log_end = 0; log_text[0] = 0; launched = 0; }
void setting(const char *name, int64_t value) {
  if (!strcmp(name, "version")) version = value;
  if (!strcmp(name, "devices")) devices = value;
  if (!strcmp(name, "memory")) memory = value;
  if (!strcmp(name, "major")) major = value;
  if (!strcmp(name, "fault")) fault = value;
  if (!strcmp(name, "image")) image = value;
  if (!strcmp(name, "launch")) launch_status = value;
  if (!strcmp(name, "busy")) busy = value;
}

static void perform(work *w) {
  if (w->kind == 'k') for (unsigned i = 0; i < w->n; i++) w->c[i] = w->a[i] + w->b[i];
  if (w->kind == 'c') memcpy(w->to, w->from, w->size);
  if (w->kind == '1') memset(w->to, w->value, w->size);
  if (w->kind == '2') for (size_t i = 0; i < w->size; i++) ((uint16_t *)w->to)[i] = w->value;
  if (w->kind == '4') for (size_t i = 0; i < w->size; i++) ((uint32_t *)w->to)[i] = w->value;
}
static status give(void *stream, work w) {
  if (capturing && stream == capturing) captured->items[captured->count++] = w;
  else perform(&w);
  return 0;
}

status cuInit(unsigned flags) { LOG("init %u\n", flags); return devices ? 0 : 100; }
status cuDriverGetVersion(int *v) { *v = version; return 0; }
status cuGetErrorName(int code, const char **text) {
  *text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR"; return 0; }
status cuGetErrorString(int code, const char **text) { *text = "said by the driver"; return 0; }
status cuDeviceGetCount(int *count) { *count = devices; return 0; }
status cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
status cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Fake"); return 0; }
status cuDeviceGetAttribute(int *value, int number, int device) {
  *value = number == 75 ? major : 0; return 0; }
status cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)0x7c0ffee00; return 0; }
status cuCtxSetCurrent(void *context) { return context == (void *)0x7c0ffee00 ? 0 : 201; }
status cuMemAlloc_v2(void **address, size_t size) {
  if (size > memory) return 2;
  memory -= size; *address = aligned_alloc(256, (size + 255) / 256 * 256);
  blocks[block_count] = *address; sizes[block_count++] = size;
  LOG("alloc %zu\n", size); return 0; }
status cuMemFree_v2(void *address) {
  for (int i = 0; address && i < block_count; i++) if (blocks[i] == address) {
    memory += sizes[i]; blocks[i] = 0; LOG("free %zu\n", sizes[i]); free(address); return 0; }
  return 1; }
status cuMemAllocAsync(void **address, size_t size, void *stream) { return cuMemAlloc_v2(address, size); }
status cuMemFreeAsync(void *address, void *stream) { return cuMemFree_v2(address); }
status cuMemcpyHtoD_v2(void *to, const void *from, size_t size) {
  LOG("upload %zu\n", size); memcpy(to, from, size); return 0; }
status cuMemcpyAsync(void *to, const void *from, size_t size, void *stream) {
  LOG("copy %zu\n", size); memcpy(to, from, size); return 0; }
status cuMemGetInfo_v2(size_t *left, size_t *total) { *left = *total = memory; return 0; }
status cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t size, void *stream) {
  LOG("upload %zu\n", size); return give(stream, (work){'c', .to = to, .from = from, .size = size}); }
status cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t size, void *stream) {
  LOG("download %zu\n", size); return give(stream, (work){'c', .to = to, .from = from, .size = size}); }
status cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t size, void *stream) {
  LOG("copy %zu\n", size); return give(stream, (work){'c', .to = to, .from = from, .size = size}); }
status cuMemsetD8Async(void *to, unsigned char value, size_t size, void *stream) {
  LOG("set8 %zu\n", size); return give(stream, (work){'1', .to = to, .size = size, .value = value}); }
status cuMemsetD16Async(void *to, unsigned short value, size_t size, void *stream) {
  LOG("set16 %zu\n", size); return give(stream, (work){'2', .to = to, .size = size, .value = value}); }
status cuMemsetD32Async(void *to, unsigned value, size_t size, void *stream) {
  LOG("set32 %zu\n", size); return give(stream, (work){'4', .to = to, .size = size, .value = value}); }
status cuStreamCreate(void **stream, unsigned flags) { *stream = malloc(8); LOG("stream %u\n", flags); return 0; }
status cuStreamDestroy_v2(void *stream) { free(stream); return 0; }
status cuStreamQuery(void *stream) {
  if (busy > 0) { busy--; return 600; }
  return launched ? fault : 0; }
status cuStreamSynchronize(void *stream) { return launched ? fault : 0; }
status cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  LOG("wait in %zu\n", (size_t)stream); return 0; }
status cuStreamBeginCapture_v2(void *stream, int mode) {
  capturing = stream; captured = calloc(1, sizeof(graph)); LOG("capture %d\n", mode); return 0; }
status cuStreamEndCapture(void *stream, void **result) { capturing = 0; *result = captured; return 0; }
status cuGraphInstantiateWithFlags(void **exec, void *g, unsigned long long flags) {
  *exec = malloc(sizeof(graph)); memcpy(*exec, g, sizeof(graph)); return 0; }
status cuGraphLaunch(void *exec, void *stream) {
  graph *g = exec; LOG("graph of %d\n", g->count); launched = 1;
  for (int i = 0; i < g->count; i++) perform(&g->items[i]);
  return 0; }
status cuGraphDestroy(void *g) { free(g); return 0; }
status cuGraphExecDestroy(void *exec) { LOG("drop graph\n"); free(exec); return 0; }
status cuEventCreate(void **event, unsigned flags) { *event = malloc(8); return 0; }
status cuEventRecord(void *event, void *stream) { return 0; }
status cuEventElapsedTime(float *milliseconds, void *first, void *last) { *milliseconds = 2; return 0; }
status cuEventDestroy_v2(void *event) { free(event); return 0; }
status cuModuleLoadData(void **module, const char *code) {
  if (image) return image;
  LOG("load %.5s\n", code); *module = (void *)0x30d; return 0; }
status cuModuleUnload(void *module) { LOG("unload\n"); return 0; }
status cuModuleGetFunction(void **function, void *module, const char *name) {
  if (run_kernel) { *function = (void *)name; return 0; }
  if (strcmp(name, "add")) return 500;
  *function = (void *)0xadd; return 0; }
status cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
  if (launch_status) return launch_status;
  if (run_kernel) { launched = 1; LOG("launch %s\n", (char *)function); return run_kernel(function, x, y, z, parameters); }
  if (function != (void *)0xadd || extra) return 400;
  unsigned n = *(int *)parameters[3];
  LOG("launch %u %u %u of %u %u %u, %u\n", x, y, z, bx, by, bz, n);
  launched = 1;
  return give(stream, (work){'k', *(float **)parameters[0], *(float **)parameters[1],
                             *(float **)parameters[2], n < 16 * x ? n : 16 * x}); }
